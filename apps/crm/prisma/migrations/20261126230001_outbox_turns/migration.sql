-- The readers of the outbox give tenants turns, so that a bulk change of one tenant does not delay the events of others.
-- The previous release still calls first_in_outbox, which stays as it is.

-- The next events of a sink: those of the tenants after one, in the order of their ids, and then from the smallest id
-- on. In its turn, a tenant has at most a twentieth of the batch, so that a batch of twenty or more has turns of twenty
-- tenants, if as many wait. What is left after a turn of all tenants is shared among those with more events. If it
-- returns fewer events than requested, no others wait. Of each tenant, it returns the earliest events.
--
-- Each step reads an index starting at a tenant, as many rows as a turn may have, and continues after the last tenant that it
-- read. So the number of steps depends neither on the number of tenants nor on how much waits. Plans are made
-- for each call: the table is empty most of the time, and the plans for that are slow when it is not.
--
-- Each step reads the events of a tenant from the first one on, without those that were read before: on Citus, the
-- statements of this function do not see the same moment, and an event must not overtake an earlier one of its record that
-- committed between two of them.
CREATE FUNCTION tenant_crm.next_in_outbox(of_sink text, after_tenant uuid, most integer)
RETURNS SETOF tenant_crm.outbox
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  share integer := greatest(most / 20, 1);
  -- As the other functions for readers, it sees nothing with a tenant.
  missing integer := CASE WHEN tenant_crm.current_tenant() IS NULL THEN most ELSE 0 END;
  positions bigint[] := '{}';
  read bigint[];
  -- The tenants that may have more events than were read.
  cut uuid[] := '{}';
  still_cut uuid[];
  last uuid := after_tenant;
  bound uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  asked integer;
BEGIN
  WHILE missing > 0 LOOP
    asked := least(share, missing);
    SELECT array_agg(position), (array_agg(tenant_id))[asked] INTO read, last FROM (
      SELECT tenant_id, position FROM tenant_crm.outbox
      WHERE sink = of_sink AND failed_at IS NULL AND tenant_id > last AND tenant_id <= bound
      ORDER BY tenant_id, position LIMIT asked
    ) AS turn;
    positions := positions || read;
    missing := missing - coalesce(cardinality(read), 0);
    IF last IS NOT NULL THEN
      cut := cut || last;
    ELSIF bound = after_tenant THEN
      EXIT;
    ELSE
      last := '00000000-0000-0000-0000-000000000000';
      bound := after_tenant;
    END IF;
  END LOOP;

  WHILE missing > 0 AND cut <> '{}' LOOP
    still_cut := '{}';
    FOR place IN 1 .. cardinality(cut) LOOP
      asked := ceil(missing::numeric / (cardinality(cut) - place + 1));
      SELECT array_agg(position) INTO read FROM (
        SELECT position FROM tenant_crm.outbox
        WHERE sink = of_sink AND failed_at IS NULL AND tenant_id = cut[place] AND position <> ALL (positions)
        ORDER BY position LIMIT asked
      ) AS turn;
      positions := positions || read;
      missing := missing - coalesce(cardinality(read), 0);
      IF cardinality(read) = asked THEN
        still_cut := still_cut || cut[place];
      END IF;
    END LOOP;
    cut := still_cut;
  END LOOP;

  RETURN QUERY SELECT * FROM tenant_crm.outbox
  WHERE sink = of_sink AND failed_at IS NULL AND position = ANY (positions);
END $$;

REVOKE EXECUTE ON FUNCTION tenant_crm.next_in_outbox(text, uuid, integer) FROM PUBLIC;

-- A user of the service who does not own the tables may call it.
DO $$ BEGIN
  PERFORM tenant_crm.prepare_tenant_role();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
END $$;

-- As before, but they read the index of the events that are not set aside, instead of the whole table: only such events
-- are handed over. A plan for the positions themselves knows how many they are, and looks a position up among them fast.
CREATE OR REPLACE FUNCTION tenant_crm.delete_from_outbox(of_sink text, positions bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  deleted bigint;
BEGIN
  DELETE FROM tenant_crm.outbox
  WHERE sink = of_sink AND failed_at IS NULL AND position = ANY (positions) AND tenant_crm.current_tenant() IS NULL;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END $$;

CREATE OR REPLACE FUNCTION tenant_crm.set_aside_in_outbox(of_sink text, of_position bigint, reason text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE tenant_crm.outbox SET failed_at = now(), error = reason
  WHERE sink = of_sink AND failed_at IS NULL AND position = of_position AND tenant_crm.current_tenant() IS NULL
$$;
