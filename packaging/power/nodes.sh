# Read by the programs beside it: a host list in words, and the line of a node in their table.
# The table: /etc/muster/power.conf, or what MUSTER_POWER_CONF names; a line for each node, # begins a remark.

table=${MUSTER_POWER_CONF:-/etc/muster/power.conf}

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# expand LIST: "n[1-3,07-08],x" as words, zeros in front kept. Fails at what is no host list.
expand() {
  case $1 in
    '' | *[!A-Za-z0-9._,\[\]-]*) fail "\"$1\" is no host list" ;;
  esac
  printf '%s\n' "$1" | awk '
    function bad() { failed = 1; exit 1 }
    function numbers(head, inside, tail,    count, parts, i, ends, width, n) {
      count = split(inside, parts, ",")
      for (i = 1; i <= count; i++) {
        if (parts[i] !~ /^[0-9]+(-[0-9]+)?$/) bad()
        split(parts[i] "-" parts[i], ends, "-")
        if (length(ends[1]) > 9 || length(ends[2]) > 9 || ends[2] - ends[1] > 65535) bad()
        width = length(ends[1])
        if (ends[2] + 0 < ends[1] + 0) bad()
        for (n = ends[1] + 0; n <= ends[2] + 0; n++) print head sprintf("%0" width "d", n) tail
      }
    }
    {
      rest = $0
      while (rest != "") {
        if (!match(rest, /^[^],[]*(\[[^][]+\][^],[]*)?(,|$)/) || RLENGTH < 1) bad()
        name = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        if (sub(/,$/, "", name) && rest == "") bad()
        if (name == "") bad()
        at = index(name, "[")
        if (at == 0) { print name; continue }
        to = index(name, "]")
        numbers(substr(name, 1, at - 1), substr(name, at + 1, to - at - 1), substr(name, to + 1))
      }
    }
    END { exit failed }' || fail "\"$1\" is no host list"
}

# fields NODE: what the table says of it, its name left out.
fields() {
  [ -r "$table" ] || fail "$table: cannot be read: write a line for each node into it"
  awk -v node="$1" '{ sub(/#.*/, "") } $1 == node { $1 = ""; sub(/^ +/, ""); print; exit }' "$table"
}
