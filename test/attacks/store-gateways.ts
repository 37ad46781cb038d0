/** Gateways in processes of their own on one store, for the tests of two that run on it at the same time. */

import { join } from 'node:path'
import type { Test } from 'tap'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { loadConfig } from '../../src/config/load.ts'
import { CONFIG, folderWith, ROUTES } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { GatewayProcess, SECRET } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/world.ts'

export const configOf = (store: string) => CONFIG.replace('./seatgate.db', store)

export interface Place {
  readonly cwd: string
  readonly env: Record<string, string>
  /** The store's file. */
  readonly path: string
  readonly key: string
  /** Of `s1:Viewer`. */
  readonly token: string
}

/** A folder with a configuration and a bootstrapped store. @param more lines of the configuration */
export async function prepare(t: Test, more = ''): Promise<Place> {
  const upstream = await startUpstream(t)
  const cwd = folderWith(t, {
    'gateway.config.yaml': configOf('./data/seatgate.db') + more,
    'routes/trainings.yaml': ROUTES,
  })
  const env = { ACME_SECRET: SECRET, TRAININGS_URL: upstream.url }
  const made = await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--json'])
  const tenant = (await loadConfig(join(cwd, 'gateway.config.yaml'), env)).tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const token = await mintToken(tenant, { sub: 'alice', hashPerm: ['s1:Viewer'] }, Date.now() - 1000)
  return { cwd, env, path: join(cwd, 'data', 'seatgate.db'), key: JSON.parse(made.out).key, token }
}

/** Resolves once it listens, or has ended: then its `origin` is ''. */
export async function start(t: Test, { cwd, env }: Place, through: string[] = []): Promise<GatewayProcess> {
  const gateway = await GatewayProcess.launch(t, { folder: cwd, env, through })
  await until(
    () => gateway.origin !== '' || !gateway.running,
    () => `neither listening nor ended: ${gateway.log}`,
    { patience: 60_000 },
  )
  return gateway
}

export function admin(gateway: GatewayProcess, key: string, method: string, path: string, body: unknown) {
  const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
  return fetchConforming(gateway.origin + path, { method, headers, body: JSON.stringify(body) })
}

/** Gives the Seat these permissions. @returns the status */
export async function permit(
  gateway: GatewayProcess,
  key: string,
  seat: string,
  permissions: readonly string[],
): Promise<number> {
  return (await served(() => admin(gateway, key, 'PUT', `/v1/seats/${seat}`, { permissions }))).status
}

/** Makes the Seat `Viewer` and gives back its id. */
export async function makeViewer(gateway: GatewayProcess, key: string): Promise<string> {
  const seat = { name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }
  const made = await served(() => admin(gateway, key, 'POST', '/v1/seats', seat))
  return ((await made.json()) as { id: string }).id
}

function fetchTrainings(gateway: GatewayProcess, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, space: 's1' }
  return fetch(`${gateway.origin}/v1/trainings`, { headers })
}

/** The status of one request. */
export async function askOnce(gateway: GatewayProcess, token: string): Promise<number> {
  return (await fetchTrainings(gateway, token)).status
}

/** The status once it is not 503. */
export async function ask(gateway: GatewayProcess, token: string): Promise<number> {
  return (await served(() => fetchTrainings(gateway, token))).status
}
