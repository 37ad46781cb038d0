/** `seatgate explain`: the decision on a request and its reason, by the decision engine of the gateway. */

import type { Store } from '../../seats-admin/index.ts'
import type { TenantConfig } from '../config/config.ts'
import { InvalidValue } from '../config/invalid-value.ts'
import { methodsOf } from '../config/methods.ts'
import { answerCode } from '../config/policy-file.ts'
import { decisionRecord, type SignedIdentityOf, signedIdentityOf } from '../decision/decision-record.ts'
import { refusalOfRequestLine } from '../http/server/request-validation.ts'
import { DecisionPoint } from '../runtime/decision-point.ts'
import type { Credentials } from '../model/authorization-request.ts'
import type { Decision, Evaluation, SeatVerdict } from '../model/decision.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { upstreamOf } from '../model/route.ts'
import { unreadableEvaluation } from '../decision/draft.ts'
import { ProcessEphemeral } from '../oidc/sign-in/completed-sign-ins.ts'
import { printable } from '../telemetry/readable.ts'
import { UsageError } from './arguments.ts'
import { type DecidedAgain, decideAgain } from './explain-logged.ts'
import { checkRemoteUse, explainRemotely, REMOTE_EXPLAIN, type RemoteRecord } from './explain-remote.ts'
import { configOf, defineCommand, type Terminal, tenantOf } from './command.ts'
import { openStoreOrEmpty } from './existing-store.ts'
import { CONFIG, HOST, JSON_OUTPUT, METHODS, TENANT } from './shared-options.ts'
import { fold } from './screen.ts'
import { mintForSeats } from './token.ts'

const options = {
  host: HOST,
  space: {
    value: 'S',
    description: 'the value of the Space header, or of the header that the route reads its space from',
  },
  token: { value: 'T', description: 'a bearer token' },
  'api-key': {
    value: 'K',
    description:
      'an API key; with --url, that which asks the gateway, or - to read it from standard input; by default, the value of SEATGATE_API_KEY',
  },
  tenant: {
    ...TENANT,
    description:
      'the tenant of a caller who holds the Seats given with --seat, or no Seats; with --seat, it may be omitted if there is only one tenant',
  },
  seat: { value: 'NAME', description: 'names of Seats', multiple: true },
  expect: { value: 'CODE', description: 'the expected answer: allow, or the code of a refusal' },
  from: {
    value: 'LOG',
    description:
      'decides the request with the given id in this log again; the caller holds the Seats that the log line lists, as they are now',
    completes: 'file',
  },
  config: CONFIG,
  ...REMOTE_EXPLAIN,
  json: { ...JSON_OUTPUT, description: 'prints the whole decision record as JSON' },
} as const

export const explain = defineCommand(
  {
    name: 'explain',
    summary: 'Shows the decision on a request: route, Seats, result and reason.',
    details:
      'It runs the code that decides requests in the gateway. If there is no store yet, it decides as with an empty one and says so.',
    positionals: [
      {
        name: 'METHOD',
        description:
          'the method of the request; with --from, the id of a logged request instead of METHOD and PATH',
        completes: METHODS,
      },
      { name: 'PATH', description: 'its target: the path, and the query if there is one', optional: true },
    ],
    options,
    alternatives: [['token'], ['seat'], ['user'], ['api-key-id'], ['from']],
    exits: {
      0: 'there is a decision, whatever it is',
      1: 'the configuration has faults, or the store cannot be read',
      3: 'the answer differs from --expect',
    },
    example: 'seatgate explain DELETE /v1/orders/7 --space main --tenant acme --seat Viewer',
  },
  async ({ values, positionals }, terminal) => {
    const [method = '', target] = positionals
    const output = { json: values.json, expected: values.expect === undefined ? null : codeOf(values.expect) }
    checkRemoteUse(values.url !== undefined, values)
    const credential = (['token', 'api-key', 'from'] as const).find((name) => values[name] !== undefined)
    if (values.tenant !== undefined && credential !== undefined)
      throw new UsageError(`--tenant goes with --seat: --${credential} has its own tenant`)
    if (values.from !== undefined) {
      if (target !== undefined || values.space !== undefined || values.host !== undefined)
        throw new UsageError('--from takes the id of a request alone, without PATH, --space and --host')
      return printAgain(await decideAgain(values.from, method, values.config, terminal), output, terminal)
    }
    if (target === undefined) throw new UsageError('PATH is missing')
    if (values.url !== undefined)
      return printRemote(await explainRemotely(method, target, values, terminal), output, terminal)
    const given = {
      apiKey: headerLines('--api-key', values['api-key']),
      authorization: headerLines(
        '--token',
        values.token === undefined ? undefined : `Bearer ${values.token}`,
      ),
      cookie: [],
      space: headerLines('--space', values.space),
    }
    const config = await configOf(values, terminal)
    const tenant =
      values.tenant === undefined && values.seat === undefined ? null : tenantOf(config, values.tenant)
    const { store, note, close } = await openStoreOrEmpty(config)
    try {
      if (note !== null) terminal.printError(`note: ${note}`)
      const decisionPoint = await DecisionPoint.forOneDecision(
        store,
        { ephemeral: new ProcessEphemeral(), log: SILENT },
        config.memory,
      )
      const credentials: Credentials =
        tenant === null
          ? given
          : { ...given, authorization: [await bearerFor(store, tenant, values.seat, given.space[0])] }
      const { engine, signIn, otherIssuers, table } = await decisionPoint.compile(config)
      if (values.host === undefined && table.hosts !== null)
        terminal.printError('note: route tables name hosts, and this request none: --host names one')
      const browser = { method, rawHeaders: [], upgrade: false }
      // The typed target as the bytes on the wire: UTF-8, one character a byte.
      const sent = Buffer.from(target, 'utf8').toString('latin1')
      const { host = null } = values
      const fields = { linesOf: () => given.space }
      const request = { method, target: sent, host, credentials, fields, browser }
      const limits = { headerBytes: config.limits.headerBytes, methods: methodsOf(config) }
      const refusal = refusalOfRequestLine({ method, target: sent, host }, limits)
      const evaluation =
        refusal === null
          ? await engine.nameSpaces(await engine.evaluate(request, true), STORE_PATIENCE)
          : unreadableEvaluation({ ...request, target }, refusal)
      await signIn?.close()
      await otherIssuers?.close()
      const identity = signedIdentityOf(config.identity, evaluation.decision)
      await terminal.print(
        values.json
          ? recordAsJson(evaluation.decision, { signedIdentity: identity ?? undefined })
          : formatEvaluation(evaluation, identity),
      )
      return exitFor(evaluation.decision.code, output, terminal)
    } finally {
      await close()
    }
  },
)

/** Exit code. */
const UNEXPECTED = 3

interface Output {
  readonly json: boolean | undefined
  /** The answer that is expected; null: each answer is accepted. */
  readonly expected: string | null
}

function exitFor(code: string, { expected }: Output, terminal: Terminal): number {
  if (expected === null || expected === code) return 0
  terminal.printError(`seatgate explain: expected ${expected}, got ${code}`)
  return UNEXPECTED
}

async function printAgain(
  { logged, evaluation }: DecidedAgain,
  output: Output,
  terminal: Terminal,
): Promise<number> {
  if (output.json) await terminal.print(recordAsJson(evaluation.decision, { logged_code: logged }))
  else await terminal.print(`then ${logged}, now ${formatEvaluation(evaluation, null)}`)
  return exitFor(evaluation.decision.code, output, terminal)
}

/** The record of a gateway has the members of a decision, with lists in place of Sets. */
async function printRemote(record: RemoteRecord, output: Output, terminal: Terminal): Promise<number> {
  if (output.json) await terminal.print(JSON.stringify(record, null, 2))
  else await terminal.print(formatDecision(record as unknown as Decision, record.signedIdentity ?? null))
  return exitFor(record.code, output, terminal)
}

function codeOf(text: string): string {
  const code = answerCode(text)
  if (code instanceof InvalidValue) throw new UsageError(`--expect "${text}" ${code.message}`)
  return code
}

/** Milliseconds that a refusal waits for the spaces that it names. */
const STORE_PATIENCE = 2000

/** The log of sign-in is not part of the output. */
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

/** The value as parsed from the wire: without leading and trailing white space (RFC 9110, section 5.5). */
function headerLines(option: string, value: string | undefined): string[] {
  if (value === undefined) return []
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, '')
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(trimmed))
    throw new UsageError(`${option} has a control character, which no header field can carry`)
  return [trimmed]
}

/** A name without a Seat is put into the token for the given space, so that the output shows its verdict. */
async function bearerFor(
  store: Pick<Store, 'seatByName' | 'listSeats'>,
  tenant: TenantConfig,
  seats: readonly string[] = [],
  space: string | undefined,
): Promise<string> {
  const spacesOfUnknown = () => (space === undefined ? [] : [space])
  return `Bearer ${await mintForSeats(store, tenant, { sub: 'explain' }, seats, { spacesOfUnknown })}`
}

const VERDICTS: Readonly<Record<SeatVerdict, string>> = {
  grants: 'grants it',
  lacks_permission: 'lacks the permission',
  not_in_space: 'is not granted in this space (any more)',
  unknown: 'is not a Seat of the tenant',
  name_given_up: 'was given up after the token was issued',
}

function formatEvaluation({ decision }: Evaluation, identity: SignedIdentityOf | null): string {
  return formatDecision(decision, identity)
}

function formatDecision(decision: Decision, identity: SignedIdentityOf | null): string {
  const lines = [
    decision.code,
    fold(printable(decision.reason), '  '),
    ...[
      `  route       ${routeLine(decision)}`,
      `  permission  ${decision.permission ?? '-'}`,
      `  caller      ${callerLine(decision)}`,
      `  space       ${decision.space ?? '-'}`,
    ].map(printable),
  ]
  const limits = decision.route?.rateLimits ?? []
  if (limits.length > 0) lines.push(`  limits      ${limits.map(rateLimitText).join(', ')}`)
  if (identity !== null) lines.push(`  identity    JWT for ${identity.audience} in ${identity.header}`)
  for (const seat of decision.seats)
    lines.push(fold(printable(`"${seat.name}" ${VERDICTS[seat.verdict]}`), '  seat        ', INDENT))
  if (decision.grantedIn.length > 0)
    lines.push(fold(printable(decision.grantedIn.join(', ')), '  granted in  ', INDENT))
  return lines.join('\n')
}

/** As wide as what stands before the values. */
const INDENT = ' '.repeat(14)

function routeLine({ route, method, path }: Decision): string {
  if (route === null) return `none for ${method} ${path}`
  const place = route.place === null ? 'built in' : `${route.place.file}:${route.place.line}`
  return `${route.id} → ${upstreamOf(route)} (${place})`
}

function callerLine({ principal }: Decision): string {
  return principal === null ? '-' : `${principal.user} of ${principal.tenant} by ${principal.method}`
}

/** @param more members behind those of the record */
export function recordAsJson(decision: Decision, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(decisionRecord(decision, more), null, 2)
}
