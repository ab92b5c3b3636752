#!/bin/sh
# Creates the namespace and the search attributes that the Participant workflow
# sets. Safe to run again. TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by
# the temporal command itself.
set -eu

if ! temporal operator namespace describe >/dev/null 2>&1; then
	# A year: the command's default of three days would lose participants who
	# left before a study is evaluated.
	temporal operator namespace create --retention 8760h
fi

# A new namespace takes some seconds to be known everywhere.
tries=30
until have=$(temporal operator search-attribute list --output json); do
	tries=$((tries - 1))
	test "$tries" -gt 0
	sleep 1
done
for pair in CoachStatus:Keyword CoachMode:Keyword CoachNextDue:Datetime CoachEnrolledAt:Datetime CoachAttention:KeywordList CoachUnreachable:Bool CoachStudy:Keyword CoachArm:Keyword; do
	name=${pair%%:*}
	case $have in
	*"\"$name\""*) ;;
	*) temporal operator search-attribute create --name "$name" --type "${pair##*:}" ;;
	esac
done
