echo began
(exit 0) || exit 1
echo forked
if command -v timeout >/dev/null 2>&1
then timeout -s KILL "$1" /bin/sh -c "$2"
else /bin/sh -c "$2"
fi >/dev/null 2>&1 </dev/null
echo "exit $?"
