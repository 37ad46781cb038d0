/** One revocation: what it would end, the question, the write, its answer and the receipt. */

import { subjectText } from '../../../seats-admin/model/revocation.ts'
import type { Option } from '../arguments.ts'
import { CommandFailed, messageOf, type Terminal } from '../command.ts'
import { withNewFile } from '../new-file.ts'
import { confirm } from '../remote/administration-prompt.ts'
import type { FleetAnswer, RevocationView } from '../remote/endpoint-answers.ts'
import { type Gateway, Unreached } from '../remote/gateway-client.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { warn } from '../seats/written.ts'
import { word } from '../shell.ts'
import { answerText, nextSteps, previewText } from './revocation-output.ts'

export const RECEIPT = {
  value: 'FILE',
  description: 'writes the signed receipt to this new file; the gateway needs identity for it',
  completes: 'file',
} as const satisfies Option

const PARTIAL = 3

export interface RevocationRequest {
  readonly subject: RevocationView['subject']
  readonly what?: string
  readonly until?: string | undefined
  readonly api_keys?: boolean
  readonly reason?: string | undefined
}

export interface RevocationValues {
  readonly reason: string | undefined
  readonly 'dry-run': boolean | undefined
  readonly receipt: string | undefined
  readonly yes: boolean | undefined
  readonly json: boolean | undefined
}

/**
 * Revokes a subject.
 *
 * @param name the subject in words
 * @returns the exit code
 * @throws CommandFailed, which says whether something may have been revoked
 */
export async function revokeSubject(
  gateway: Gateway,
  name: string,
  request: RevocationRequest,
  values: RevocationValues,
  terminal: Terminal,
): Promise<number> {
  const { 'dry-run': isDry = false, receipt, json = false } = values
  if (isDry) {
    const preview = await previewOf(gateway, request)
    warn(preview.warnings, terminal)
    await terminal.print(json ? JSON.stringify(preview) : previewText(name, preview))
    return 0
  }
  if (receipt !== undefined) await requireIdentity(gateway)
  return withReceiptFile(receipt, 'nothing is revoked', async (write) => {
    await confirmed(gateway, name, request, values, terminal)
    const answer = await written(gateway, request)
    const file = await keptReceipt(answer, write, receipt)
    await terminal.print(json ? JSON.stringify(answer) : answerText(name, answer, file))
    if (answer.state === 'closed') return 0
    terminal.printError(nextSteps(answer, await fleetOf(gateway)))
    return PARTIAL
  })
}

/**
 * Shows what would end, and asks. A program does neither.
 *
 * @throws CommandFailed if nothing is to be revoked
 */
async function confirmed(
  gateway: Gateway,
  name: string,
  request: RevocationRequest,
  { yes = false, json = false }: RevocationValues,
  terminal: Terminal,
): Promise<void> {
  if (json && yes) return
  const preview = await previewOf(gateway, request)
  warn(preview.warnings, terminal)
  const text = previewText(name, preview)
  if (json) terminal.printError(text)
  else await terminal.print(`${text}\n`)
  await confirm({ question: `Revoke ${name}?`, change: `${name} would be revoked` }, yes, terminal)
}

/** The gateways on the list; null if the API key may not read it, or no answer comes. */
async function fleetOf(gateway: Gateway): Promise<FleetAnswer['data'] | null> {
  return gateway.get<FleetAnswer>('/v1/fleet').then(
    ({ data }) => data,
    () => null,
  )
}

/** Creates the file of a receipt before the work. @see withNewFile */
export function withReceiptFile<R>(
  path: string | undefined,
  refusal: string,
  work: (write: ((receipt: string) => Promise<void>) | null) => Promise<R>,
): Promise<R> {
  return withNewFile(path, { option: '--receipt', refusal, mode: 0o644 }, work)
}

/**
 * A receipt is evidence: its absence is reported before something is revoked.
 *
 * @throws CommandFailed
 */
async function requireIdentity(gateway: Gateway): Promise<void> {
  await gateway.get('/.well-known/seatgate/jwks.json').catch((cause: unknown) => {
    if (!(cause instanceof GatewayRefusal) || cause.problem.status !== 404) throw cause
    throw new CommandFailed(
      'nothing was revoked: the gateway has no identity, so that it signs no receipt. Leave --receipt out, or configure identity',
    )
  })
}

async function previewOf(gateway: Gateway, request: RevocationRequest): Promise<RevocationView> {
  const body = { ...request, dry_run: true }
  const { value } = await gateway.send<RevocationView>('/v1/revocations', {
    method: 'POST',
    body,
    reads: true,
  })
  return value
}

/**
 * Sends the revocation.
 *
 * @throws GatewayRefusal if nothing was revoked, CommandFailed if that is not known
 */
async function written(gateway: Gateway, body: RevocationRequest): Promise<RevocationView> {
  try {
    return (await gateway.send<RevocationView>('/v1/revocations', { method: 'POST', body })).value
  } catch (cause) {
    const isRefused = cause instanceof GatewayRefusal && cause.problem.status < 500
    if (isRefused || cause instanceof Unreached) throw cause
    const look = `seatgate revoke list --subject ${word(subjectText(body.subject))}`
    throw new CommandFailed(
      `${messageOf(cause)}\nIt is not known whether this was revoked. Run the command again, which is harmless, or look with: ${look}`,
    )
  }
}

/**
 * Writes the receipt.
 *
 * @returns the path; null: none is wanted
 * @throws CommandFailed, although the subject is revoked
 */
export async function keptReceipt(
  { id, receipt, state }: Pick<RevocationView, 'id' | 'receipt' | 'state'>,
  write: ((text: string) => Promise<void>) | null,
  path: string | undefined,
): Promise<string | null> {
  if (write === null || path === undefined) return null
  if (receipt === null)
    throw new CommandFailed(`revocation ${id} is ${state}, but the gateway has signed no receipt of it`)
  await write(receipt).catch((cause: unknown) => {
    throw new CommandFailed(
      `revocation ${id} is ${state}, but its receipt could not be written: get it with seatgate revoke show ${id} --receipt FILE (${messageOf(cause)})`,
    )
  })
  return path
}
