-- Has each index of the visibility database leave out the executions that do not
-- have its value. Temporal's schema indexes some fifty attributes that Coachline
-- never sets, and every update of an execution writes all of them. Queries find
-- what they found before; those for IS NULL do without the index. Safe to run
-- again, which an update of Temporal's schema makes necessary. It locks the table:
-- run it before the first participant is enrolled, or in a quiet minute.
DO $$
DECLARE
  wide record;
BEGIN
  FOR wide IN
    SELECT x.indexrelid::regclass AS name, pg_get_indexdef(x.indexrelid) AS definition, quote_ident(a.attname) AS attribute
    FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[1]
    WHERE x.indrelid = 'executions_visibility'::regclass AND x.indpred IS NULL AND NOT a.attnotnull
      AND a.attname NOT IN ('close_time', 'temporalnamespacedivision')
  LOOP
    EXECUTE 'DROP INDEX ' || wide.name;
    EXECUTE wide.definition || ' WHERE ' || wide.attribute || ' IS NOT NULL';
  END LOOP;
END
$$;
