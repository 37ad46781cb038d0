/** Tables with MCP servers, from the text of files. */

import type { Test } from 'tap'
import { OfflineEngine, seatsByName } from '../../src/access/offline-engine.ts'
import { type Tables, tablesOf } from '../../src/access/tables.ts'
import { builtInPaths } from '../../src/composition.ts'
import type { Config } from '../../src/config/config.ts'
import { formatFault } from '../../src/config/faults.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { BASE, Folder } from '../config/support.ts'

export async function configOf(t: Test, tables: readonly string[], main = ''): Promise<Config> {
  const files = tables.map((text, at) => [`r${at}.yaml`, `upstream: main\n${text}`])
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r*.yaml]\n${main}`,
    ...Object.fromEntries(files),
  })
  const { config, faults } = await folder.load()
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return config
}

export function compiled(config: Config) {
  return compileTable(config.routes, config.upstreams, builtInPaths(config.api), config.api.hosts)
}

/** Throws if the tables have a fault of the router. */
export async function mcpTables(t: Test, ...tables: readonly string[]): Promise<Tables> {
  const config = await configOf(t, tables)
  const { table, faults } = compiled(config)
  for (const fault of faults) throw new Error(formatFault(fault))
  return tablesOf(config, table)
}

/** A server at `/mcp`. @param lines further lines of `mcp` */
export function server(...lines: readonly string[]): string {
  const all = ['path: /mcp', 'resource: https://gw.example/mcp', ...lines]
  return `mcp:\n${all.map((line) => `  ${line}\n`).join('')}`
}

/** An engine that knows these Seats, each in space `main`. */
export function engineOf(tables: Tables, seats: Readonly<Record<string, readonly string[]>>): OfflineEngine {
  const all = Object.entries(seats).map(([name, permissions]) => ({
    name,
    spaces: ['main'],
    permissions: [...permissions],
  }))
  return new OfflineEngine(tables, seatsByName(all), 8192)
}
