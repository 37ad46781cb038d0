/** The names of the writes of a run. */

const OPERATIONS = [
  'make Seat',
  'make key',
  'grant',
  'revoke',
  'rename',
  'delete',
  'make again',
  'revoke key',
] as const
/** The operations that no read tests: a Seat grants nothing until a key or token holds it. */
export const UNSEEN_OPERATIONS = ['make Seat', 'make again'] as const
export const BLOCK_OPERATIONS = ['block', 'unblock'] as const
const TABLE_OPERATIONS = ['deny in tables', 'allow in tables'] as const
const SESSION_OPERATIONS = ['end session'] as const
export const REVOCATION_OPERATIONS = ['revoke user'] as const

interface CycleConditions {
  readonly tables: boolean
  readonly tokenSecret: Uint8Array | null
  readonly blocks: boolean
  readonly revocations: boolean
  readonly sessions: readonly string[]
}

/** The operations of a cycle; the report names those that were not reached. */
export function operationsOf({
  tables,
  tokenSecret,
  blocks,
  revocations,
  sessions,
}: CycleConditions): readonly string[] {
  return [
    ...OPERATIONS,
    ...(tables ? TABLE_OPERATIONS : []),
    ...(tokenSecret !== null && blocks ? BLOCK_OPERATIONS : []),
    ...(sessions.length > 0 ? SESSION_OPERATIONS : []),
    ...(tokenSecret !== null && revocations ? REVOCATION_OPERATIONS : []),
  ]
}
