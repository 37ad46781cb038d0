/** What of the model is explored: each scope leaves out what the others have, as all of it together has too many states. */

import { THOROUGH } from '../../support/thorough.ts'
import type { Definitions } from './spin.ts'

/** The protocol, without memory: a lease that is live is right. */
const PROTOCOL = ['PROTOCOL', 'LEASE=2']
/** Revocations: what is open, cut and reported. */
const CUTTING = [...PROTOCOL, 'CUTTING']
/** The same, with a lease that is right whenever it is live. */
const REPORTS = ['DECISIONS', 'CUTTING']
/** Memory and decisions, with a lease that is right whenever it is live. */
const DECISIONS = ['DECISIONS']

/** Route tables: what is active, and decisions with a value of memory. */
const TABLES = ['DECISIONS', 'TABLES']

/** Name → definitions. */
export const SCOPES: Readonly<Record<string, Definitions>> = {
  'the lease is right: three writes': [...PROTOCOL, 'WRITES=3'],
  'a response is due after LEASE + MARGIN: three writes': [...PROTOCOL, 'WRITES=3', 'PUNCTUAL'],
  'a decision is one of a single state: three writes': [...DECISIONS, 'WRITES=3', 'MOVES'],
  'an answer of a closed revocation is right: one revocation': [...CUTTING, 'WRITES=1'],
  'an answer to a revocation is due within two seconds: one revocation': [...CUTTING, 'WRITES=1', 'PUNCTUAL'],
  'an answer counts what was cut for its own revocation: three revocations': [...REPORTS, 'WRITES=3'],
  'a decision is one of a single state with its tables: two writes': [...TABLES, 'WRITES=2'],
  'all at once: one write': ['WRITES=1', 'LEASE=2'],
  ...(THOROUGH && {
    'the lease is right: three writes, and finer time': ['PROTOCOL', 'WRITES=3', 'LEASE=3'],
    'all at once: one write, and a queue of readings': ['WRITES=1', 'LEASE=2', 'QUEUE=1'],
  }),
}

/** The smallest in which the broken variants fail. */
export const OF_PROTOCOL: Definitions = [...PROTOCOL, 'WRITES=2']
export const OF_RESPONSES: Definitions = [...OF_PROTOCOL, 'PUNCTUAL']
export const OF_CUTTING: Definitions = [...CUTTING, 'WRITES=1']
export const OF_ANSWERS: Definitions = [...OF_CUTTING, 'PUNCTUAL']
export const OF_REPORTS: Definitions = [...REPORTS, 'WRITES=2']
export const OF_DECISIONS: Definitions = [...DECISIONS, 'WRITES=2']
export const OF_TABLES: Definitions = [...TABLES, 'WRITES=2']
