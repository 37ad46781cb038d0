/** The commands by name. */

import type { Command } from './command.ts'

/** The groups of commands, whose commands have two words, such as `seats list`. */
export const groups: Readonly<Record<string, string>> = {
  seats: 'Manages Seats through a gateway, one at a time or as files.',
  keys: 'Manages API keys through a gateway.',
  tables: 'Plans, pushes and rolls back route tables that are in the store.',
  users: 'Lists, blocks and unblocks users through a gateway.',
  grants: 'Gives users Seats until a time, and reviews who has what.',
  scim: 'Compares what sign-ins gave users with their SCIM groups.',
  revoke: 'Voids what a user, key, session, issuer or tenant was given until now.',
  receipt: 'Verifies or shows the signed receipt of a revocation.',
  secrets: 'Shows which secrets of tokens gateways accept, or waits for a rotation.',
  audit: 'Lists, exports or verifies the audit, which records who changed what.',
}

/** The commands by name. Each file is loaded on demand: a command does not load the code of others. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).init,
  start: async () => (await import('./start.ts')).start,
  health: async () => (await import('./health-command.ts')).health,
  check: async () => (await import('./check.ts')).check,
  routes: async () => (await import('./routes.ts')).routes,
  diff: async () => (await import('./diff.ts')).diff,
  explain: async () => (await import('./explain.ts')).explain,
  'who-can': async () => (await import('./who-can.ts')).whoCan,
  can: async () => (await import('./can.ts')).can,
  import: async () => (await import('./import.ts')).importCommand,
  lint: async () => (await import('./lint.ts')).lint,
  replay: async () => (await import('./replay.ts')).replay,
  decisions: async () => (await import('./decisions.ts')).decisions,
  refused: async () => (await import('./refused.ts')).refused,
  test: async () => (await import('./test.ts')).test,
  fleet: async () => (await import('./fleet.ts')).fleet,
  'secrets status': async () => (await import('./secrets-commands.ts')).secretsStatus,
  'secrets wait': async () => (await import('./secrets-commands.ts')).waitForSecrets,
  verify: async () => (await import('./verify.ts')).verify,
  'seats list': async () => (await import('./seats/seats-commands.ts')).listSeats,
  'seats show': async () => (await import('./seats/seats-commands.ts')).showSeat,
  'seats create': async () => (await import('./seats/seats-commands.ts')).createSeat,
  'seats update': async () => (await import('./seats/seats-commands.ts')).updateSeat,
  'seats delete': async () => (await import('./seats/seats-commands.ts')).deleteSeat,
  'seats plan': async () => (await import('./seats/seats-files.ts')).planSeats,
  'seats apply': async () => (await import('./seats/seats-files.ts')).applySeats,
  'seats export': async () => (await import('./seats/seats-files.ts')).exportSeats,
  'keys list': async () => (await import('./keys-commands.ts')).listKeys,
  'keys create': async () => (await import('./keys-commands.ts')).createKey,
  'keys revoke': async () => (await import('./keys-commands.ts')).revokeKey,
  'tables plan': async () => (await import('./tables/tables-commands.ts')).planTables,
  'tables push': async () => (await import('./tables/tables-commands.ts')).push,
  'tables pull': async () => (await import('./tables/tables-versions.ts')).pull,
  'tables history': async () => (await import('./tables/tables-versions.ts')).history,
  'tables rollback': async () => (await import('./tables/tables-commands.ts')).rollback,
  'users list': async () => (await import('./users-commands.ts')).listUsers,
  'users block': async () => (await import('./users-commands.ts')).blockUser,
  'users blocks': async () => (await import('./users-commands.ts')).listBlocks,
  'users unblock': async () => (await import('./users-commands.ts')).unblockUser,
  'grants list': async () => (await import('./grants/grants-commands.ts')).listGrants,
  'grants create': async () => (await import('./grants/grants-commands.ts')).createGrant,
  'grants delete': async () => (await import('./grants/grants-commands.ts')).deleteGrant,
  'grants review': async () => (await import('./grants/grants-review.ts')).reviewGrants,
  'scim compare': async () => (await import('./scim/scim-compare.ts')).compareScim,
  'revoke user': async () => (await import('./revoke/revoke-commands.ts')).revokeUser,
  'revoke key': async () => (await import('./revoke/revoke-commands.ts')).revokeApiKey,
  'revoke session': async () => (await import('./revoke/revoke-commands.ts')).revokeSession,
  'revoke issuer': async () => (await import('./revoke/revoke-commands.ts')).revokeIssuer,
  'revoke tenant': async () => (await import('./revoke/revoke-commands.ts')).revokeTenant,
  'revoke list': async () => (await import('./revoke/revoke-list.ts')).listRevocations,
  'revoke show': async () => (await import('./revoke/revoke-list.ts')).showRevocation,
  revoke: async () => (await import('./revoke/revoke-from.ts')).revokeFrom,
  'receipt verify': async () => (await import('./receipt/receipt-commands.ts')).verifyReceiptFile,
  'receipt show': async () => (await import('./receipt/receipt-commands.ts')).showReceipt,
  'audit list': async () => (await import('./audit/audit-list.ts')).listAudit,
  'audit export': async () => (await import('./audit/audit-export.ts')).exportAudit,
  'audit verify': async () => (await import('./audit/audit-verify.ts')).verifyAudit,
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrap,
  token: async () => (await import('./token.ts')).token,
  completion: async () => (await import('./completion.ts')).completion,
}

export function everyCommand(): Promise<Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()))
}

/** The second words of a group's commands. */
export function actionsOf(group: string): string[] {
  return Object.keys(commands).flatMap((name) => {
    const [first, action] = name.split(' ')
    return first === group && action !== undefined ? [action] : []
  })
}

/** The different first words of the commands: what a user types after `seatgate`. */
export function firstWords(): string[] {
  return [...new Set(Object.keys(commands).map((name) => name.split(' ')[0] ?? ''))]
}
