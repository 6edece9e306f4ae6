echo began
cd -- "$1" || exit 1
nonce=$2
set -- *
[ -e "$1" ] || [ -L "$1" ] || shift
echo "listed $#"
command -v rm >/dev/null 2>&1 || exit 0
file=.sandkeeper-probe-$nonce
set -C
if echo "$nonce" >"$file" && read -r back <"$file" && [ "$back" = "$nonce" ]
then echo kept
fi
exec rm -f -- "$file"
