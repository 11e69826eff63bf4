/** The number of the shard that has the rows of all tenants. */
export const SHARD = 102041;

/**
 * Statements that give a database without Citus the names that migrations and `crm-admin distribute` look for, and a
 * "shard" of each distributed table: a view with the shard's number in its name.
 */
export const CITUS_STAND_IN = [
  `CREATE FUNCTION public.get_shard_id_for_distribution_column(regclass, anyelement)
   RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ${SHARD}'`,
  'CREATE TABLE public.distributed (name text, distribution_column text, colocated_with text)',
  `CREATE FUNCTION public.create_distributed_table(name regclass, distribution_column text, colocate_with text)
   RETURNS void LANGUAGE plpgsql AS $$
   BEGIN
     IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND (conrelid = name OR confrelid = name)) THEN
       RAISE EXCEPTION 'cannot distribute % with a foreign key', name;
     END IF;
     INSERT INTO public.distributed VALUES (name, distribution_column, colocate_with);
     -- Without generated columns, so that a migration can create one anew.
     EXECUTE format('CREATE VIEW %s_${SHARD} AS SELECT %s FROM %s', name, (
       SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
       WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     ), name);
   END $$`,
  `INSERT INTO pg_extension SELECT 1, 'citus', extowner, extnamespace, false, '13.2'
   FROM pg_extension WHERE extname = 'plpgsql'`,
  `CREATE VIEW public.pg_dist_partition AS
   SELECT name::regclass AS logicalrelid, 'h'::"char" AS partmethod, 's'::"char" AS repmodel FROM public.distributed`,
];

/** What `crm-admin distribute` also uses, on a coordinator with one worker that has every role. */
export const COORDINATOR_STAND_IN = [
  "CREATE FUNCTION public.citus_is_coordinator() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
  `CREATE VIEW public.pg_dist_node AS
   SELECT 'worker' AS nodename, 5432 AS nodeport, 'primary' AS noderole, true AS shouldhaveshards`,
  `CREATE FUNCTION public.run_command_on_workers(command text)
   RETURNS TABLE(nodename text, nodeport integer, success boolean, result text)
   LANGUAGE sql AS $$ SELECT 'worker', 5432, true, '1' $$`,
  'CREATE TABLE public.pg_dist_object (classid oid, objid oid)',
  `CREATE FUNCTION public.create_distributed_function(name regprocedure) RETURNS void LANGUAGE sql
   AS $$ INSERT INTO public.pg_dist_object VALUES ('pg_proc'::regclass, name) $$`,
  `CREATE FUNCTION public.create_reference_table(name regclass) RETURNS void LANGUAGE sql
   AS $$ INSERT INTO public.distributed VALUES (name, NULL, NULL) $$`,
  `CREATE FUNCTION public.truncate_local_data_after_distributing_table(name regclass) RETURNS void LANGUAGE sql
   AS ''`,
];
