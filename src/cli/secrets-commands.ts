/** `seatgate secrets`: which secrets of tokens the gateways of a fleet accept, by fingerprint. */

import type { InstanceSecrets, Store } from '../../seats-admin/index.ts'
import { loadConfig } from '../config/load.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, UsageError } from './arguments.ts'
import { defineCommand, tenantOf, type Terminal } from './command.ts'
import { gatewayOf, storeOf } from './fleet.ts'
import {
  FinalFailure,
  hexOf,
  missingLine,
  NOT_ALL,
  printMissing,
  WITHIN_OPTION,
  withinOf,
  waitForAll,
  type WaitedInstance,
} from './fleet-wait.ts'
import { quoted } from './near-names.ts'
import type { FleetSecretsAnswer, SecretsRow } from './remote/endpoint-answers.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { columns, plural } from './screen.ts'

type Instance = WaitedInstance & SecretsRow

interface OfTenant {
  readonly tenant: string
  readonly instances: readonly Instance[]
}

const FAILED =
  'the configuration has faults, or the store cannot be read; with --url: the gateway refused the request or could not be reached'

const FINGERPRINTS =
  'A fingerprint is the beginning of HMAC-SHA-256 with the secret as its key and the text "seatgate fingerprint": 12 hexadecimal digits.'

export const secretsStatus = defineCommand({
  name: 'secrets status',
  summary: 'Lists, by tenant, which secret each live gateway signs tokens with, and which ones it accepts.',
  details: `${FINGERPRINTS} It reads the store in the configuration. With --url or --api-key, it asks a gateway about the tenant of the API key, which requires fleet:read in the admin space.`,
  options: { config: CONFIG, ...REMOTE, json: JSON_OUTPUT },
  exits: { 0: 'the list was printed', 1: FAILED },
  example: 'seatgate secrets status --json',
  run: async ({ values }, terminal) => {
    const { url, 'api-key': key, json = false } = values
    const all =
      url === undefined && key === undefined
        ? await storeOf(values.config, terminal, ofStore)
        : await withGateway(values, terminal, ofGateway)
    const live = all.map(({ tenant, instances }) => ({ tenant, instances: instances.filter(isLive) }))
    await print(live, json, terminal)
    const silent = Math.max(
      0,
      ...all.map(({ instances }, at) => instances.length - (live[at]?.instances.length ?? 0)),
    )
    if (silent > 0) terminal.printError(`note: ${plural(silent, 'silent instance')} left out`)
  },
})

export const waitForSecrets = defineCommand({
  name: 'secrets wait',
  summary:
    'Waits until every live gateway signs with one secret of a tenant, or accepts another one no more.',
  details: `${FINGERPRINTS} A gateway without a sign of life for 1.25 s is not live, and reads its files again before it decides. With --url or --api-key, a gateway is asked, which requires fleet:read in the admin space of the tenant.`,
  positionals: [{ name: 'TENANT', description: 'the id of the tenant' }],
  options: {
    config: CONFIG,
    signs: { value: 'FINGERPRINT', description: 'the secret with which every live gateway must sign' },
    without: { value: 'FINGERPRINT', description: 'the secret that no live gateway may accept' },
    within: WITHIN_OPTION,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'every live gateway signs with the one secret, and none accepts the other',
    1: FAILED,
    3: 'the time has run out; the messages name the gateways',
  },
  example: 'seatgate secrets wait acme --signs 3f2a8c01d9e4 --without 9a51b7d2c0ff',
  run: async ({ values, positionals: [tenant = ''] }, terminal) => {
    const { url, 'api-key': key, json = false } = values
    const wanted = wantedOf(values)
    const wait = (read: () => Promise<readonly Instance[]>) => waited(tenant, read, wanted, json, terminal)
    if (url === undefined && key === undefined) {
      tenantOf(await loadConfig(values.config, terminal.env), tenant)
      return storeOf(values.config, terminal, (store, path) => wait(() => listed(store, path, tenant)))
    }
    return withGateway(values, terminal, (gateway) => wait(() => askedFor(gateway, tenant)))
  },
})

interface Wanted {
  readonly signs: string | null
  readonly without: string | null
  readonly within: number
}

function wantedOf(values: { readonly [K in 'signs' | 'without' | 'within']?: string | undefined }): Wanted {
  const { signs, without } = values
  if (signs === undefined && without === undefined) throw new UsageError('--signs or --without is required')
  if (signs === without) throw new UsageError('--signs and --without name the same secret')
  return {
    signs: signs === undefined ? null : hexOf('--signs', signs),
    without: without === undefined ? null : hexOf('--without', without),
    within: withinOf(values.within),
  }
}

async function waited(
  tenant: string,
  read: () => Promise<readonly Instance[]>,
  { signs, without, within }: Wanted,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const isRight = ({ accepts }: Instance) =>
    accepts !== null &&
    (signs === null || accepts[0] === signs) &&
    (without === null || !accepts.includes(without))
  const result = await waitForAll(read, isRight, within)
  await print([{ tenant, instances: result.instances.filter(isLive) }], json, terminal)
  if (result.isDone) return 0
  const lines = result.missing.map((each) => missingLine(each, whyMissing(each)))
  const what = [
    ...(signs === null ? [] : [`sign with ${signs}`]),
    ...(without === null ? [] : [`stop accepting ${without}`]),
  ].join(' and ')
  printMissing(result, lines, [what, within], terminal)
  return NOT_ALL
}

function whyMissing({ accepts }: Instance): string {
  if (accepts === null) return 'is of a version that does not say which secrets it accepts'
  const [signs, ...others] = accepts
  if (signs === undefined) return 'has no such tenant'
  return `signs with ${signs}${others.length === 0 ? '' : ` and accepts ${others.join(', ')}`}`
}

async function ofStore(store: Store, path: string | null): Promise<OfTenant[]> {
  const rows = await secretsIn(store, path, null)
  const tenants = new Set(rows.flatMap(({ secrets }) => Object.keys(secrets ?? {})))
  return [...tenants]
    .sort()
    .map((tenant) => ({ tenant, instances: rows.map((each) => instanceOf(each, tenant)) }))
}

async function listed(store: Store, path: string | null, tenant: string): Promise<Instance[]> {
  return (await secretsIn(store, path, tenant)).map((each) => instanceOf(each, tenant))
}

/** @param tenant null: all tenants */
async function secretsIn(
  store: Store,
  path: string | null,
  tenant: string | null,
): Promise<readonly InstanceSecrets[]> {
  if (path === null) return (await store.registry?.secrets(tenant)) ?? []
  const shown = await gatewayOf(path)
  return shown === null ? [] : [{ ...shown, beat: 0, age: 0 }]
}

function instanceOf({ id, name, beat, age, secrets }: InstanceSecrets, tenant: string): Instance {
  const accepts = secrets && (Object.hasOwn(secrets, tenant) ? (secrets[tenant] ?? []) : [])
  const row = { id, name, beat, age_ms: Math.round(age), signs: accepts?.[0] ?? null, accepts }
  return { ...row, shown: name, checks_files: secrets !== null }
}

async function ofGateway(gateway: Gateway): Promise<OfTenant[]> {
  const { data } = await gateway.get<FleetSecretsAnswer>('/v1/fleet/secrets')
  return data.map(({ tenant, instances }) => ({
    tenant,
    instances: instances.map((each) => ({ ...each, shown: each.name, checks_files: each.accepts !== null })),
  }))
}

async function askedFor(gateway: Gateway, tenant: string): Promise<readonly Instance[]> {
  const all = await ofGateway(gateway)
  const own = all.find((each) => each.tenant === tenant)
  if (own !== undefined) return own.instances
  const of = all.map((each) => each.tenant).join(', ')
  throw new FinalFailure(`the API key is not one of tenant ${quoted(tenant)}, but of ${of}`)
}

function isLive({ age_ms: age }: Instance): boolean {
  return age <= LEASE + MARGIN
}

async function print(all: readonly OfTenant[], json: boolean, terminal: Terminal): Promise<void> {
  if (json) {
    const view = all.map(({ tenant, instances }) => ({
      tenant,
      instances: instances.map(({ id, name, signs, accepts }) => ({ id, name, signs, accepts })),
    }))
    return terminal.print(JSON.stringify(view))
  }
  const rows = all.flatMap(({ tenant, instances }) =>
    instances.map(({ name, signs, accepts }) =>
      [tenant, name, signs ?? '-', accepts === null ? 'not told' : accepts.join(' ')].map(printable),
    ),
  )
  await terminal.print(
    rows.length === 0
      ? 'No gateway is live.'
      : columns([['tenant', 'instance', 'signs', 'accepts'], ...rows]),
  )
}
