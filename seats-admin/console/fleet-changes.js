/**
 * The last changes of the fleet as people made them: the records that one write changed, and what the audit
 * says of it.
 */

/**
 * @typedef {Pick<import('./answers.d.ts').AuditEntry, 'at' | 'action' | 'actor' | 'target'>} Told
 *
 * @typedef {object} Written
 * @property {number} seq of its newest record
 * @property {string} at
 * @property {string[]} kinds of its records, each once, the first one first
 * @property {number | null} effectiveMs
 * @property {Told | null} entry null: it is not known which one
 */

/** A Seat and its name are two records of one write. */
const NAME_OF = 'seat-name'

/** Kinds of records that a revocation changes after its own, or the write of SCIM that it is part of. */
const ENDED = new Set(['session', 'api-key', 'block', 'membership'])

/**
 * @param {readonly import('./answers.d.ts').FleetChange[]} changes the newest first
 * @param {readonly Told[]} entries of the audit
 * @returns {Written[]} the newest first
 */
export function writtenOf(changes, entries) {
  /** @type {Written[]} */
  const writes = []
  for (const { seq, at, kind, effective_ms: effectiveMs } of changes.toReversed()) {
    const last = writes.at(-1)
    if (last?.at === at && isPart(kind, last.kinds[0] ?? '')) {
      if (!last.kinds.includes(kind)) last.kinds.push(kind)
      last.seq = seq
    } else writes.push({ seq, at, kinds: [kind], effectiveMs, entry: null })
  }
  for (const [at, written] of writes.entries()) {
    const [family = ''] = written.kinds
    const before = writes.slice(0, at).findLast(({ kinds }) => familyOf(kinds[0] ?? '') === familyOf(family))
    written.entry = entryOf(written, familyOf(family), before?.at ?? null, entries)
  }
  return writes.reverse()
}

/** A change of a group has a record for each user who came or went. */
const MEMBERSHIP = 'membership'

/**
 * Whether a record is part of the write that the record before it began: the name of a Seat, a further member of a
 * group, or what a revocation has ended.
 *
 * @param {string} kind
 * @param {string} first
 */
function isPart(kind, first) {
  if (kind === NAME_OF) return familyOf(first) === 'seat'
  return first === 'revocation' ? ENDED.has(kind) : first === MEMBERSHIP && kind === MEMBERSHIP
}

/** Kind of the target in the audit. @param {string} kind */
function familyOf(kind) {
  return kind === NAME_OF ? 'seat' : kind
}

/** Milliseconds from the time of an entry to its commit, at most. */
const COMMITTED_AFTER = 3000

/**
 * The feed has no names. An entry is written with its change: it is the one between the change before and
 * this one. Of another instance, whose clock may differ, and where several entries may be meant, none is.
 *
 * @param {Written} written
 * @param {string} family
 * @param {string | null} before time of the change before
 * @param {readonly Told[]} entries
 * @returns {Told | null}
 */
function entryOf({ at, effectiveMs }, family, before, entries) {
  if (effectiveMs === null) return null
  const end = Date.parse(at)
  const start = Math.max(before === null ? 0 : Date.parse(before), end - COMMITTED_AFTER)
  const [only = null, ...others] = entries.filter(({ at: time, target: { kind } }) => {
    const told = Date.parse(time)
    return kind.replace('_', '-') === family && told >= start && told <= end
  })
  return others.length === 0 ? only : null
}
