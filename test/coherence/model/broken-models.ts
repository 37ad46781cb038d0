/**
 * The broken variants of the model, and those of the simulation in the model's terms. In the model all records are alike, so
 * several variants of the simulation are one of the model.
 */

import { OF_ANSWERS, OF_CUTTING, OF_DECISIONS, OF_PROTOCOL, OF_REPORTS, OF_RESPONSES } from './scopes.ts'
import type { Definitions } from './spin.ts'

/** Definition that breaks the model → the scope in which it fails. */
export const BROKEN_MODELS: Readonly<Record<string, Definitions>> = {
  NO_WAIT: OF_PROTOCOL,
  NO_EXPIRY: OF_PROTOCOL,
  COUNTS_FROM_RESPONSE: OF_PROTOCOL,
  UNLISTED_LEASE: OF_PROTOCOL,
  REGISTERS_LATE: OF_PROTOCOL,
  FORGETS_ANY: OF_PROTOCOL,
  FORGETS_AT_ONCE: OF_PROTOCOL,
  FORGETS_EARLY: OF_PROTOCOL,
  LEASE_BEFORE_JOIN: OF_PROTOCOL,
  CONFIRMS_WHEN_SENT: OF_PROTOCOL,
  BEAT_OF_PRIMARY: OF_PROTOCOL,
  ACKNOWLEDGES_ANY_READING: OF_PROTOCOL,
  ACKNOWLEDGES_GAPS: OF_PROTOCOL,
  NO_MARGIN: OF_PROTOCOL,
  NO_TIME_LIMIT: OF_RESPONSES,
  ANY_SHARED: OF_DECISIONS,
  DROPS_ANNOUNCED: OF_DECISIONS,
  KEEPS_OLD: OF_DECISIONS,
  NO_DROP: OF_DECISIONS,
  NO_BRINGING_UP: OF_DECISIONS,
  NO_REDECISION: OF_DECISIONS,
  ARRIVALS_ONLY: OF_DECISIONS,
  IGNORES_GAPS: OF_DECISIONS,
  REPORTS_BEFORE_CUT: OF_CUTTING,
  REPORTS_FOR_WORKER: OF_CUTTING,
  OPENS_ON_OLD_STATE: OF_CUTTING,
  COUNTS_ACKNOWLEDGED: OF_CUTTING,
  COUNTS_LEASE_ENDED: OF_CUTTING,
  COUNTS_ANY_REPORT: OF_REPORTS,
  NO_CUT_LIMIT: OF_ANSWERS,
}

const NO_TIMES = { none: 'a value of the model is that of one write, and has no time' }
const NO_STREAMS = { none: 'what is open in the model ends by revocations alone' }

/** Variant of the simulation → the one of the model, or why it has no meaning there. */
export const IN_THE_MODEL: Readonly<Record<string, keyof typeof BROKEN_MODELS | { readonly none: string }>> =
  {
    'no wait for acknowledgements': 'NO_WAIT',
    'a lease never expires': 'NO_EXPIRY',
    'a lease counts from the end of the reading': 'COUNTS_FROM_RESPONSE',
    'every value of the shared cache counts': 'ANY_SHARED',
    'a reading without changes drops what was announced': 'DROPS_ANNOUNCED',
    'memory keeps an answer from before the change': 'KEEPS_OLD',
    'memory keeps a session from before its end': 'KEEPS_OLD',
    'memory keeps a list of blocks from before the block': 'KEEPS_OLD',
    'memory keeps the answer about a user from before the block': 'KEEPS_OLD',
    'the end of a session does not reach memory': 'NO_DROP',
    'a block does not reach memory': 'NO_DROP',
    'a cached decision outlives its inputs': { none: 'the model caches values, and no decisions' },
    'an unlisted instance has a lease': 'UNLISTED_LEASE',
    'a reading from before the registration gives a lease': 'REGISTERS_LATE',
    'an instance is removed whatever its beat': 'FORGETS_ANY',
    'an instance is removed at once': 'FORGETS_AT_ONCE',
    'an instance is removed too early': 'FORGETS_EARLY',
    'a revocation does not name an instance that was removed': {
      none: 'the model claims nothing of instances that were removed before the revocation',
    },
    'a worker has a lease from before it joined': 'LEASE_BEFORE_JOIN',
    'an announcement to a worker counts as applied when sent': 'CONFIRMS_WHEN_SENT',
    'a beat reports changes that workers have not applied': 'BEAT_OF_PRIMARY',
    'a reading from before an announcement acknowledges it': 'ACKNOWLEDGES_ANY_READING',
    'no margin': 'NO_MARGIN',
    'a renewal brings an ended session back': { none: 'the store refuses such a write, not the protocol' },
    'a renewal is not announced': 'NO_WAIT',
    'a decision that waited is not made again': 'NO_REDECISION',
    'memory is not brought up to the position of a value': 'NO_BRINGING_UP',
    'an acknowledgement does not wait for earlier changes': 'ACKNOWLEDGES_GAPS',
    'a gap in the received changes does not count': 'IGNORES_GAPS',
    'a process says what it has cut before it has': 'REPORTS_BEFORE_CUT',
    'the primary says what its workers have cut': 'REPORTS_FOR_WORKER',
    'an instance that has not said what it has cut counts as closed': 'COUNTS_ACKNOWLEDGED',
    'an instance whose lease has ended counts as closed': 'COUNTS_LEASE_ENDED',
    'what an instance has cut for another revocation counts': 'COUNTS_ANY_REPORT',
    'a revocation that is read cuts nothing': 'REPORTS_BEFORE_CUT',
    'a revocation does not reach memory': 'NO_DROP',
    'a revocation reaches memory by announcements alone': 'NO_DROP',
    'sessions that a revocation does not list stay in memory': 'NO_DROP',
    'a token of the second of a revocation counts': NO_TIMES,
    'a revocation has a leeway': NO_TIMES,
    'a token without iat outlives a revocation': NO_TIMES,
    'a session ends with the iat of its token': NO_TIMES,
    'a stream with a token of the second of a revocation stays open': NO_TIMES,
    'a stream with a token of the next second is cut': NO_TIMES,
    're-evaluation forgets changes during an evaluation': NO_STREAMS,
    're-evaluation forgets requests that are not decided yet': NO_STREAMS,
    're-evaluation forgets a reload': NO_STREAMS,
  }
