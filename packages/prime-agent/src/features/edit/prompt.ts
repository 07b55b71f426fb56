/** Name and description of the skill as its `SKILL.md` has them, and how it is called. */
export const EDIT_PROMPT = `Skills, called in a cell; \`help(edit.run)\` says more:

- edit: Replace an exact, unique string in an existing file. Use for targeted single-occurrence edits to files from the IPython kernel instead of rewriting the whole file. \`await edit(path=..., old_str=..., new_str=...)\``;
