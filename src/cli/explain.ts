/** `seatgate explain`: the decision on a request and its reason, by the decision engine of the gateway. */

import type { SeatReader } from '../../seats-admin/index.ts'
import type { TenantConfig } from '../config/config.ts'
import { DecisionPoint } from '../runtime/decision-point.ts'
import type { Credentials } from '../model/authorization-request.ts'
import type { Decision, Evaluation, SeatVerdict } from '../model/decision.ts'
import { unreadableEvaluation } from '../decision/engine.ts'
import { ProcessEphemeral } from '../oidc/sign-in/ephemeral.ts'
import { printable } from '../telemetry/readable.ts'
import { type Command, configOf, readArguments, tenantOf, UsageError } from './command.ts'
import { openStoreOrEmpty } from './existing-store.ts'
import { recordAsJson } from './record.ts'
import { refusalOfRequestLine, wireTarget } from './request-line.ts'
import { mintForSeats } from './token.ts'

const options = {
  config: { type: 'string' },
  space: { type: 'string' },
  token: { type: 'string' },
  'api-key': { type: 'string' },
  tenant: { type: 'string' },
  seat: { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const

export const explain: Command = {
  usage:
    'explain METHOD PATH [--space S] [--token T | --api-key K | --tenant T --seat NAME…] [--config FILE] [--json]',
  summary: 'Shows the decision on a request: route, Seats, result and reason.',
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, options, { positionals: 2, list: 'seat' })
    const [method = '', target = ''] = positionals
    const ways = [values.token, values['api-key'], values.tenant].filter((each) => each !== undefined)
    if (ways.length > 1) throw new UsageError('--token, --api-key and --tenant exclude each other')
    if (values.seat !== undefined && values.tenant === undefined)
      throw new UsageError('--seat goes with --tenant')
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
    const tenant = values.tenant === undefined ? null : tenantOf(config, values.tenant)
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
      const { engine, signIn } = await decisionPoint.compile(config)
      const browser = { method, rawHeaders: [], upgrade: false }
      const request = { method, target: wireTarget(target), host: null, credentials, browser }
      const refusal = refusalOfRequestLine(method, request.target, config)
      const evaluation =
        refusal === null
          ? await engine.evaluate(request, true)
          : unreadableEvaluation({ ...request, target }, refusal)
      await signIn?.close()
      await terminal.print(values.json ? recordAsJson(evaluation.decision) : formatEvaluation(evaluation))
    } finally {
      await close()
    }
  },
}

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
  store: SeatReader,
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

function formatEvaluation({ decision }: Evaluation): string {
  const lines = [
    decision.code,
    `  ${decision.reason}`,
    `  route       ${routeLine(decision)}`,
    `  permission  ${decision.permission ?? '-'}`,
    `  caller      ${callerLine(decision)}`,
    `  space       ${decision.space ?? '-'}`,
  ]
  for (const seat of decision.seats) lines.push(`  seat        "${seat.name}" ${VERDICTS[seat.verdict]}`)
  return lines.map(printable).join('\n')
}

function routeLine({ route, method, path }: Decision): string {
  if (route === null) return `none for ${method} ${path}`
  const upstream = route.target.kind === 'upstream' ? route.target.name : 'seatgate'
  const place = route.place === null ? 'built in' : `${route.place.file}:${route.place.line}`
  return `${route.id} → ${upstream} (${place})`
}

function callerLine({ principal }: Decision): string {
  return principal === null ? '-' : `${principal.user} of ${principal.tenant} by ${principal.method}`
}
