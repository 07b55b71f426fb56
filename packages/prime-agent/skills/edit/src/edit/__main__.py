"""`edit --path FILE --old-str TEXT --new-str TEXT`, for shells."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from edit.change import change_file  # noqa: E402 the path has to be there first


def main():
    parser = argparse.ArgumentParser(prog="edit", description="Replaces text that occurs exactly once in a file.", allow_abbrev=False)
    parser.add_argument("--path", required=True, help="the file")
    parser.add_argument("--old-str", required=True, help="what it holds once")
    parser.add_argument("--new-str", required=True, help="what it holds afterwards")
    words = parser.parse_args()
    try:
        change_file(words.path, words.old_str, words.new_str)
    except (OSError, ValueError) as error:
        sys.exit("edit: %s" % error)
    print("Edited " + words.path)


main()
