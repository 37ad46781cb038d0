/** Gateways whose route tables have `cors`, and the requests that browsers send to them. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Client } from './client.ts'
import { routeTable } from './configuration.ts'
import { type World } from './world.ts'

export const APP = 'https://app.example'

/** Name of a file → its `cors` in YAML's flow style, '' for none, and its entries. */
type Tables = Readonly<Record<string, { readonly cors: string; readonly routes: readonly string[] }>>

/** Replaces the tables of these names and reloads. `main` is the one that every gateway of the tests has. */
export async function useTables(world: World, tables: Tables): Promise<void> {
  for (const [name, { cors, routes }] of Object.entries(tables)) {
    const head = cors === '' ? '' : `cors: ${cors}\n`
    writeFileSync(join(world.folder, 'routes', `${name}.yaml`), head + routeTable(routes))
  }
  await world.reload()
}

/** A preflight as Chromium sends it, but for headers that decide nothing. */
export function preflight(
  client: Client,
  path: string,
  method: string,
  { origin = APP, headers = '' }: { origin?: string; headers?: string } = {},
): Promise<Answer> {
  return client.send('OPTIONS', path, {
    origin,
    'access-control-request-method': method,
    ...(headers === '' ? {} : { 'access-control-request-headers': headers }),
  })
}

/** The fields `access-control-*` of a response, without that prefix. */
export function corsOf({ headers }: Answer): Record<string, unknown> {
  const fields = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'))
  return Object.fromEntries(fields.map(([name, value]) => [name.slice('access-control-'.length), value]))
}
