/** The registry of a fleet's instances, with the change feed that they follow. */

import { monotonic } from '../monotonic.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts'
import {
  type CutReport,
  type Instance,
  type InstanceSecrets,
  type ReachableInstance,
  type RefusedReload,
  type Registry,
  type TenantSecrets,
  UNDERSTOOD,
} from '../../model/registered-instance.ts'
import { replaceUnstorable } from '../storable-text.ts'
import { StoreUnavailable } from '../store.ts'
import type { Connection } from './postgres-connection.ts'
import type { ConnectionPools } from './connection-pools.ts'
import type { Values } from '../statements.ts'

/**
 * Milliseconds after a lost connection during which no instance is removed. Longer than any observation of a
 * beat.
 */
const SETTLE_TIME = 10_000

/** For so long, revocations name an instance that was removed. */
const KEPT = "interval '1 minute'"

/** Idempotent: a repetition after a lost response keeps the beat. */
const REGISTER = `WITH back AS (DELETE FROM gone_instances
     WHERE id = :id OR gone_at < clock_timestamp() - ${KEPT})
   INSERT INTO instances (id, name, beat, applied, started_at, version, process, understands, seen_at)
   VALUES (:id, :name, 0, 0, :started_at, :version, :process, :understands, clock_timestamp())
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, seen_at = excluded.seen_at`

/**
 * `applied` is valid only in the history in which it was read: after a failover with lost commits or a
 * restored backup, the same numbers are other changes. A late beat that arrives after a newer one is ignored.
 */
const FOLLOW = `WITH beat AS (UPDATE instances SET beat = :beat,
     applied = CASE WHEN :seq = 0 OR (SELECT p.mark FROM changes p WHERE p.seq = :seq) = :mark THEN :applied ELSE 0 END,
     config = :config, url = :url, refused = :refused, tables_from = :tables_from, cuts = :cuts,
     seen_at = clock_timestamp()
     WHERE id = :id AND beat < :beat RETURNING 1)
   ${feedQuery('(SELECT count(*) FROM beat) AS registered,')}`

const AGE = 'round(extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint AS age'
const INSTANCES = `SELECT id, name, beat, applied, config, url, started_at, version, understands, cuts, refused, tables_from,
     secrets IS NOT NULL AS checks_files, ${AGE}
   FROM instances ORDER BY id`

const SHOW_SECRETS = 'UPDATE instances SET secrets = :secrets WHERE id = :id'
const SECRETS = `SELECT id, name, beat, ${AGE}, CASE WHEN CAST(:tenant AS text) IS NULL OR secrets IS NULL THEN secrets
     ELSE json_build_object(CAST(:tenant AS text), secrets::json -> CAST(:tenant AS text))::text END AS secrets
   FROM instances ORDER BY id`

const REACHABLE = `SELECT id, name, beat, applied, understands, cuts, tables_from, process, 0 AS gone FROM instances
   UNION ALL SELECT id, name, 0, 0, NULL, NULL, NULL, process, 1 FROM gone_instances
     WHERE gone_at > clock_timestamp() - ${KEPT}
   ORDER BY id`

const FORGET = `WITH gone AS (DELETE FROM instances WHERE id = :id AND beat = :beat RETURNING id, name, process)
   INSERT INTO gone_instances (id, name, process, gone_at) SELECT id, name, process, clock_timestamp() FROM gone
   ON CONFLICT (id) DO UPDATE SET gone_at = excluded.gone_at`
const LEAVE = `WITH gone AS (DELETE FROM gone_instances WHERE id = :id) DELETE FROM instances WHERE id = :id`

export function registryOf(pools: ConnectionPools): Registry {
  /** The feed's connection from before the first observation of a beat. */
  let first: Connection | null = null
  let observed = false
  const query = (statement: string, values: Values) =>
    pools.queryUnobserved(pools.administration, statement, values)
  return {
    async register(id, name, started) {
      pools.prepareToFollow()
      const { startedAt = null, version = null, process = null } = started ?? {}
      const understands = JSON.stringify(UNDERSTOOD)
      const about = { started_at: startedAt, version, process, understands }
      await query(REGISTER, { id, name: replaceUnstorable(name), ...about })
    },

    /**
     * The commit is not durable: a crash of the server may undo the newest beats. The instance counts beats
     * itself and never repeats one, so the next beat still differs; `forget` detects the crash.
     */
    async follow(id, beat, position, applied, shown, cuts = []) {
      const values = {
        id,
        beat,
        applied,
        config: shown?.config ?? null,
        url: shown?.url ?? null,
        refused: refusedText(shown?.refused ?? null),
        tables_from: shown?.tables ?? null,
        cuts: cuts.length === 0 ? null : JSON.stringify(cuts),
        mark: position?.mark ?? 0,
        ...feedParameters(position),
      }
      const rows = await pools.follow((connection) => {
        if (!observed) first = connection
        return connection.query(FOLLOW, values, true)
      })
      return { ...feedReading(rows, position), registered: rows[0]?.registered === 1 }
    },

    async instances() {
      observed = true
      return (await query(INSTANCES, {})).map(instance)
    },

    async showSecrets(id, secrets) {
      await query(SHOW_SECRETS, { id, secrets: JSON.stringify(secrets) })
    },

    async secrets(tenant) {
      observed = true
      return (await query(SECRETS, { tenant })).map(instanceSecrets)
    },

    async reachable() {
      observed = true
      return (await query(REACHABLE, {})).map(reachable)
    },

    /**
     * Uses the feed's connection: if it has been open during the whole observation, the server has not
     * crashed and no beat was undone.
     */
    async forget(id, beat) {
      await pools.follow(async (connection) => {
        if (connection !== first && monotonic() - connection.openedAt < SETTLE_TIME) {
          throw new StoreUnavailable('the connection was lost recently: heartbeats may be missing')
        }
        await connection.query(FORGET, { id, beat })
      })
    },

    async leave(id) {
      await query(LEAVE, { id })
    },
  }
}

function refusedText(refused: RefusedReload | null): string | null {
  return refused && JSON.stringify({ ...refused, first: replaceUnstorable(refused.first) })
}

/** A column that this version, or a newer one, has written. */
function jsonOrNull<V>(row: Row, column: string): V | null {
  const json = textOrNull(row, column)
  return json === null ? null : JSON.parse(json)
}

function instanceSecrets(row: Row): InstanceSecrets {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    beat: integer(row, 'beat'),
    age: integer(row, 'age'),
    secrets: jsonOrNull<TenantSecrets>(row, 'secrets'),
  }
}

function reachable(row: Row): ReachableInstance {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    beat: integer(row, 'beat'),
    applied: integer(row, 'applied'),
    understands: jsonOrNull<readonly string[]>(row, 'understands'),
    cuts: jsonOrNull<readonly CutReport[]>(row, 'cuts') ?? [],
    tables: textOrNull(row, 'tables_from'),
    process: textOrNull(row, 'process'),
    gone: integer(row, 'gone') === 1,
  }
}

/** A time that no date has would make a list of instances unreadable: it is shown as unknown. */
function timeOrNull(time: number | null): number | null {
  return time === null || Number.isNaN(new Date(time).getTime()) ? null : time
}

function instance(row: Row): Instance {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    beat: integer(row, 'beat'),
    applied: integer(row, 'applied'),
    config: textOrNull(row, 'config'),
    url: textOrNull(row, 'url'),
    age: integer(row, 'age'),
    startedAt: timeOrNull(integerOrNull(row, 'started_at')),
    version: textOrNull(row, 'version'),
    understands: jsonOrNull<readonly string[]>(row, 'understands'),
    cuts: jsonOrNull<readonly CutReport[]>(row, 'cuts') ?? [],
    refused: jsonOrNull<RefusedReload>(row, 'refused'),
    tables: textOrNull(row, 'tables_from'),
    checksFiles: row['checks_files'] === true,
  }
}
