# Says what the next letter of the plan says: B blocks, anything else passes.
cat >/dev/null
next=$(head -c 1 plan.txt)
tail -c +2 plan.txt >rest.txt && mv rest.txt plan.txt
if [ "$next" = B ]; then
  echo "the prompt names a customer" >&2
  exit 2
fi
exit 0
