/** The cells of the demo. Each prints its facts as one line of JSON; variables pass from cell to cell. */

/** Lists the files below the folder, without those that tools make, and reads the heading of a README. */
export const LIST_FILES = `import collections, json, os, pathlib

made_by_tools = {"node_modules", "dist", "build", "target", "__pycache__", "venv"}
files, folders, skipped = [], 1, 0
for base, below, names in os.walk("."):
    kept = sorted(name for name in below if name not in made_by_tools and not name.startswith("."))
    skipped += len(below) - len(kept)
    below[:] = kept
    folders += len(kept)
    files += [path for path in (pathlib.Path(base, name) for name in sorted(names)) if path.is_file()]
    if len(files) >= 20000:
        break

kinds = collections.Counter(path.suffix or path.name for path in files)
facts = {"folder": os.getcwd(), "files": len(files), "folders": folders, "skipped": skipped}
facts["kinds"] = kinds.most_common(3)
readme = next((path for path in files if path.parent == pathlib.Path(".") and path.stem.lower() == "readme"), None)
if readme:
    written = [line.strip("# \\t\\n") for line in readme.read_text("utf-8", "replace").splitlines()]
    facts["heading"] = next((line for line in written if line), "")[:120]
print(json.dumps(facts))`;

/** Fails: nothing has been counted yet. */
export const SUM_LINES = "print(sum(lines_of.values()))";

/** Counts the lines of the files that the first cell found. */
export const COUNT_LINES = `lines_of = {}
for path in files:
    try:
        if path.stat().st_size < 2_000_000:
            data = path.read_bytes()
            if b"\\0" not in data:
                lines_of[str(path)] = len(data.splitlines())
    except OSError:
        pass

counted = {"lines": sum(lines_of.values())}
if lines_of:
    longest = max(lines_of, key=lines_of.get)
    counted["longest"] = [longest, lines_of[longest]]
print(json.dumps(counted))`;
