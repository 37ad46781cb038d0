/** `seatgate explain`: what the gateway would decide, and why, by the code that decides a request. */

import { mintToken } from '../authn/token.ts'
import type { TenantConfig } from '../config/config.ts'
import { Engine } from '../engine.ts'
import type { Ask, Credentials, Decision, Judgement, SeatVerdict } from '../exchange.ts'
import { type Command, configOf, readArguments, tenantOf, UsageError } from './command.ts'
import { seatEntries } from './token.ts'

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
  summary: 'Says which route and which Seats decide a request, the answer and why.',
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, options, 2)
    const ways = [values.token, values['api-key'], values.tenant].filter((each) => each !== undefined)
    if (ways.length > 1)
      throw new UsageError('--token, --api-key and --tenant are three ways to say who: take one')
    if (values.seat !== undefined && values.tenant === undefined)
      throw new UsageError('--seat goes with --tenant')
    const config = await configOf(values, terminal)
    const tenant = values.tenant === undefined ? null : tenantOf(config, values.tenant)
    const engine = await Engine.open(config)
    try {
      const { judge } = engine.compile(config)
      const authorization = tenant === null ? values.token : await tokenFor(engine, tenant, values.seat ?? [])
      const credentials: Credentials = {
        apiKey: values['api-key'] === undefined ? [] : [values['api-key']],
        authorization: authorization === undefined ? [] : [`Bearer ${authorization}`],
        cookie: [],
        space: values.space === undefined ? [] : [values.space],
      }
      const ask: Ask = { method: positionals[0] ?? '', target: positionals[1] ?? '', host: null, credentials }
      const judgement = await judge.judge(ask)
      terminal.print(values.json ? JSON.stringify(judgement.decision, null, 2) : inWords(judgement))
    } finally {
      await engine.close()
    }
  },
}

/** A token as a sign-in would issue it now to someone whose provider names these Seats. */
async function tokenFor(engine: Engine, tenant: TenantConfig, seats: readonly string[]): Promise<string> {
  const hashPerm = await seatEntries(engine.store, tenant.id, seats)
  // Issued just now it would be as old as a name given up this very second; a second later nothing stands against it.
  return mintToken(tenant, { sub: 'explain', hashPerm }, Date.now())
}

const VERDICTS: Readonly<Record<SeatVerdict, string>> = {
  grants: 'grants it',
  lacks_permission: 'lacks the permission',
  not_in_space: 'is not granted in this space (any more)',
  unknown: 'is no Seat of the tenant',
  name_given_up: 'was given up after the token was issued',
}

function inWords({ decision }: Judgement): string {
  const lines = [
    decision.code,
    `  ${decision.reason}`,
    `  route       ${routeLine(decision)}`,
    `  permission  ${decision.permission ?? '-'}`,
    `  caller      ${callerLine(decision)}`,
    `  space       ${decision.space ?? '-'}`,
  ]
  for (const seat of decision.seats) lines.push(`  seat        "${seat.name}" ${VERDICTS[seat.verdict]}`)
  return lines.join('\n')
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
