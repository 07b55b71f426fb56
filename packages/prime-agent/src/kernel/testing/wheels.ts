import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Files of a wheel by their path in it. */
export type WheelFiles = Readonly<Record<string, string>>;

const SCRIPT = `
import json, sys, zipfile
folder, name, version, files = json.loads(sys.argv[1])
info = "%s-%s.dist-info/" % (name, version)
files[info + "METADATA"] = "Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (name, version)
files[info + "WHEEL"] = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
files[info + "RECORD"] = "".join("%s,,\\n" % path for path in [*files, info + "RECORD"])
with zipfile.ZipFile("%s/%s-%s-py3-none-any.whl" % (folder, name, version), "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
`;

/** Writes a small wheel that pip takes. */
export async function writeWheel(
	python: string,
	wheel: { readonly folder: string; readonly name: string; readonly version: string; readonly files: WheelFiles },
): Promise<void> {
	const words = [wheel.folder, wheel.name, wheel.version, wheel.files];
	await promisify(execFile)(python, ["-I", "-c", SCRIPT, JSON.stringify(words)]);
}
