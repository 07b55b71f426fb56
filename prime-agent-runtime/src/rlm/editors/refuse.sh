# Stands before editors that read keys from stderr where there is no terminal, and so would wait for a person for ever.
# Runs the real one when it was given commands to run, or a terminal after all; otherwise says what to do instead.
here=${0%/*}
name=${0##*/}
is_scripted=
for word; do
	case $word in
	-c | -c?* | -S | -S?* | -s | -e | -E | -es | -Es | --cmd | --headless | --remote* | --server* | --version | --help | -h) is_scripted=1 ;;
	-l) [ "$name" != nvim ] || is_scripted=1 ;;
	+[0-9]* | +/*) ;;
	+?*) is_scripted=1 ;;
	esac
done
if [ -z "$is_scripted" ] && [ ! -t 0 ] && [ ! -t 2 ]; then
	echo "$name cannot open here: nobody can type. Write the file with %%writefile or Python, or give commands ($name -es -c '...' -c wq file)." >&2
	exit 1
fi
set -f
IFS=:
for folder in $PATH; do
	case $folder in
	# this one, and that of a kernel around this kernel
	"$here" | */rlm/editors) continue ;;
	esac
	if [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then
		unset IFS
		exec "$folder/$name" "$@"
	fi
done
echo "$name: not found" >&2
exit 127
