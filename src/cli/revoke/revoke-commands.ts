/**
 * `seatgate revoke user`, `key`, `session`, `issuer` and `tenant`: voids what a subject was given until now.
 */

import { isSessionId } from '../../../seats-admin/model/session-record.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { JSON_OUTPUT, type Option, UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand, type Terminal } from '../command.ts'
import { quoted } from '../near-names.ts'
import { findKey, findSub } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, type RemoteValues, withGateway } from '../remote/gateway-options.ts'
import { momentOf } from '../remote/moment.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { RECEIPT, type RevocationRequest, type RevocationValues, revokeSubject } from './revoke-subject.ts'

/** The options of all these commands. */
const COMMON = {
  reason: { value: 'TEXT', description: 'the reason, for people to read; it appears in the audit' },
  'dry-run': { description: 'prints what would end, and changes nothing' },
  receipt: RECEIPT,
  ...REMOTE,
  yes: { description: 'does not ask for confirmation' },
  json: JSON_OUTPUT,
} as const satisfies Readonly<Record<string, Option>>

const EXITS = {
  0: 'closed: every gateway decides by the revocation, and has cut what was open; with --dry-run: what would end was printed',
  1: 'nothing was revoked, or it is not known, as the message says; or the receipt could not be written',
  3: 'partial: it is in force, but a gateway has not said that it has cut what was open, or is of an older version, which may accept what is void',
}

const DETAILS =
  'It prints what would end, and asks. What is issued later is accepted. To repeat it is harmless. It requires revocations:create in the admin space.'

/**
 * Revokes what the gateway knows under a name.
 *
 * @param find the subject in words, and the request
 */
function revoke(
  values: RemoteValues & RevocationValues,
  terminal: Terminal,
  find: (gateway: Gateway) => Promise<readonly [name: string, request: RevocationRequest]>,
): Promise<number> {
  if (values['dry-run'] && values.receipt !== undefined)
    throw new UsageError('--dry-run has no --receipt: nothing is revoked')
  return withGateway(values, terminal, async (gateway) => {
    const [name, request] = await find(gateway)
    return revokeSubject(gateway, name, { ...request, reason: values.reason }, values, terminal)
  })
}

/** Whether the caller may not look up a name: `revocations:create` alone suffices to revoke. */
function mayNotLookUp(cause: unknown): cause is GatewayRefusal {
  return cause instanceof GatewayRefusal && cause.problem.code === 'permission_denied'
}

export const revokeUser = defineCommand({
  name: 'revoke user',
  summary:
    'Voids everything that a user was given until now: sessions, tokens, and the API keys that the user owns. A new sign-in is accepted.',
  details: `${DETAILS} With --all, the user is also blocked.`,
  positionals: [{ name: 'USER', description: '`sub` or email address of the user' }],
  options: {
    all: { description: 'also blocks the user: a new sign-in is refused' },
    until: {
      value: 'TIME',
      description:
        'when the block of --all ends: a duration such as 7d, or a date-time; by default, when the user is unblocked',
    },
    sub: { description: 'takes USER as a `sub`, even if it is not known from a sign-in' },
    ...COMMON,
  },
  exits: EXITS,
  example: 'seatgate revoke user anna@example.com --reason laptop --receipt a.receipt',
  run: async ({ values, positionals: [subOrAddress = ''] }, terminal) => {
    if (values.until !== undefined && values.all !== true)
      throw new UsageError('--until is the end of the block: it goes with --all')
    const until = values.until === undefined ? undefined : momentOf('--until', values.until)
    return revoke(values, terminal, async (gateway) => {
      const user = values.sub
        ? subOrAddress
        : await findSub(gateway, subOrAddress, terminal).catch((cause: unknown) => {
            if (!mayNotLookUp(cause)) throw cause
            throw new CommandFailed(`${cause.message}\nWithout it, give the sub of the user, and --sub`)
          })
      const what = values.all ? { what: 'all', until } : {}
      return [`user ${quoted(user)}`, { subject: { user }, ...what }]
    })
  },
})

export const revokeApiKey = defineCommand({
  name: 'revoke key',
  summary: 'Revokes an API key, and cuts what is open with it.',
  details: DETAILS,
  positionals: [{ name: 'KEY', description: 'id or name of the API key, not its text' }],
  options: COMMON,
  exits: EXITS,
  example: 'seatgate revoke key nightly-export --reason leaked',
  run: async ({ values, positionals: [nameOrId = ''] }, terminal) =>
    revoke(values, terminal, async (gateway) => {
      // After a partial revocation, the same command is repeated: the key is revoked by then.
      const { id, name } = await findKey(gateway, nameOrId, { includesRevoked: true }).catch(
        (cause: unknown) => {
          if (!mayNotLookUp(cause)) throw cause
          if (isUlid(nameOrId)) return { id: nameOrId, name: null }
          throw new CommandFailed(`${cause.message}\nWithout it, give the id of the API key`)
        },
      )
      const title = name === null ? `API key ${id}` : `API key ${quoted(name)} ${id}`
      return [title, { subject: { api_key: id } }]
    }),
})

export const revokeSession = defineCommand({
  name: 'revoke session',
  summary: 'Ends one sign-in session, with its tokens and refresh handles, and cuts what is open with it.',
  details: DETAILS,
  positionals: [{ name: 'ID', description: 'id of the session: GET /v1/sessions lists them' }],
  options: COMMON,
  exits: EXITS,
  example: 'seatgate revoke session uJQAi2yPkv7rW3sXh0Ea4g',
  run: async ({ values, positionals: [session = ''] }, terminal) => {
    // The message does not repeat the text, which may be a cookie.
    if (!isSessionId(session)) throw new UsageError('ID is not the id of a session')
    return revoke(values, terminal, async () => [`session ${session}`, { subject: { session } }])
  },
})

export const revokeIssuer = defineCommand({
  name: 'revoke issuer',
  summary: 'Voids all tokens that another issuer has issued until now.',
  details: `${DETAILS} Tokens that the issuer issues later are accepted, so withdraw its compromised key first.`,
  positionals: [{ name: 'URL', description: 'the issuer, as `issuers` of the tenant has it' }],
  options: COMMON,
  exits: EXITS,
  example: 'seatgate revoke issuer https://token.actions.githubusercontent.com',
  run: async ({ values, positionals: [issuer = ''] }, terminal) =>
    revoke(values, terminal, async () => [`issuer ${quoted(issuer)}`, { subject: { issuer } }]),
})

export const revokeTenant = defineCommand({
  name: 'revoke tenant',
  summary: 'Voids every session and every token of the tenant of the API key that asks.',
  details: `${DETAILS} API keys stay in force, unless --api-keys is given.`,
  options: {
    'api-keys': { description: 'also revokes all API keys, except the one that asks' },
    ...COMMON,
  },
  exits: EXITS,
  example: 'seatgate revoke tenant --reason leaked-secret',
  run: async ({ values }, terminal) =>
    revoke(values, terminal, async (gateway) => {
      const { tenant } = await gateway.get<{ readonly tenant?: string }>('/auth/oidc/me')
      const keys = values['api-keys'] ? { api_keys: true } : {}
      return [`tenant ${quoted(tenant ?? '')}`, { subject: { tenant: true }, ...keys }]
    }),
})
