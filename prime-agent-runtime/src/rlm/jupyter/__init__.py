"""The kernel on ipykernel: IPython runs the cells; output, commands, requests and life are those of the built-in one."""
