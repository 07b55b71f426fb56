import type { Attack } from "./attack.ts";

/** Cells that look for the key which was planted in the environment of the program. */
export const LEAKS: readonly Attack[] = [
	{
		name: "a look into every environment that belongs to the kernel",
		cells: [
			"import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read().replace('\\0', '\\n'))\nprint(open('/proc/%d/environ' % os.getppid()).read().replace('\\0', '\\n'))",
			"%env",
			"%%bash\nenv; cat /proc/$PPID/environ | tr '\\0' '\\n'; set; export -p",
			"import subprocess\nsubprocess.run(['env']).returncode",
		],
		never: /canary-8f2e61b0/,
		says: /HOME/,
	},
	{
		name: "a look into the kernel's own memory",
		cells: [
			"import re, hashlib\nfound = 0\nwith open('/proc/self/mem', 'rb', 0) as mem:\n    for line in open('/proc/self/maps'):\n        low, high = (int(x, 16) for x in line.split()[0].split('-'))\n        if ' r' not in line or high - low > 1 << 28: continue\n        try:\n            mem.seek(low)\n            data = mem.read(high - low)\n        except (OSError, ValueError, OverflowError): continue\n        for m in re.finditer(rb'canary-', data): found += hashlib.sha256(data[m.start():m.start() + 15]).hexdigest()[:16] == '33c5729c12d7b3b7'\nprint('places:', found)",
		],
		says: /places: 0/,
		kernelMb: false,
	},
	{
		name: "files that a kernel may leave",
		cells: [
			"print('x' * 200_000)",
			"import os\nfor top in (os.environ['TMPDIR'], os.path.expanduser('~/.prime/agent/session-artifacts')):\n    for folder, folders, files in os.walk(top):\n        for name in folders + files:\n            path = os.path.join(folder, name)\n            if os.stat(path).st_mode & 0o077: print('open to others:', path)\n        # what lies in a private folder is private\n        folders[:] = [name for name in folders if os.stat(os.path.join(folder, name)).st_mode & 0o077]\n'looked'",
		],
		says: /looked/,
		never: /open to others/,
	},
];
