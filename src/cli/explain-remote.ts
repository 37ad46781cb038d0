/** `seatgate explain --url`: the same question, to a running gateway. */

import { UsageError } from './arguments.ts'
import type { Terminal } from './command.ts'
import type { SignedIdentityOf } from '../decision/decision-record.ts'
import { REMOTE, type RemoteValues, withGateway } from './remote/gateway-options.ts'

/** The options of `explain` that need `--url`, or mean something else with it. */
export const REMOTE_EXPLAIN = {
  url: { ...REMOTE.url, description: 'asks the gateway at this address instead of reading the store' },
  user: {
    value: 'SUB',
    description: 'with --url: the sub of a user, who holds the Seats of the latest sign-in',
  },
  'api-key-id': { value: 'ID', description: 'with --url: the id of the API key that makes the request' },
  in: {
    value: 'S',
    description: 'with --url: the space to ask in; by default, the admin space of the tenant',
  },
  ca: { ...REMOTE.ca, description: `with --url: ${REMOTE.ca.description}` },
  timeout: { ...REMOTE.timeout, description: `with --url: ${REMOTE.timeout.description}` },
} as const

export interface RemoteQuestion extends Omit<RemoteValues, 'space'> {
  readonly in?: string | undefined
  readonly space?: string | undefined
  readonly host?: string | undefined
  readonly seat?: readonly string[] | undefined
  readonly user?: string | undefined
  readonly 'api-key-id'?: string | undefined
}

/** As far as `explain` prints it. */
export interface RemoteRecord {
  readonly code: string
  readonly signedIdentity?: SignedIdentityOf
}

/** The decision record. @throws UsageError, or CommandFailed where the gateway does not answer */
export function explainRemotely(
  method: string,
  path: string,
  values: RemoteQuestion,
  terminal: Terminal,
): Promise<RemoteRecord> {
  const { in: place, space = null, host = null, seat: seats = null, user = null } = values
  const body = { method, path, space, host, seats, user, api_key: values['api-key-id'] ?? null }
  return withGateway({ ...values, space: place }, terminal, async (gateway) => {
    const sent = { method: 'POST', body, reads: true } as const
    return (await gateway.send<RemoteRecord>('/v1/access/explain', sent)).value
  })
}

/** @param names of options that are given */
export function checkRemoteUse(isRemote: boolean, values: Readonly<Record<string, unknown>>): void {
  const given = (names: readonly string[]) => names.filter((name) => values[name] !== undefined)
  if (isRemote) {
    const [offline] = given(['token', 'tenant', 'from'])
    if (offline !== undefined) throw new UsageError(`--${offline} does not go with --url`)
    return
  }
  const [remote] = given(['user', 'api-key-id', 'ca'])
  if (remote !== undefined) throw new UsageError(`--${remote} goes with --url`)
  if (values['api-key'] !== undefined && given(['token', 'seat', 'from']).length > 0)
    throw new UsageError('--token, --api-key, --seat and --from exclude each other')
}
