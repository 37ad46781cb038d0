/** `seatgate routes`: lists the compiled table, built-in routes included. */

import { posix } from 'node:path'
import { BUILT_IN } from '../access/access-change.ts'
import { type Route, upstreamOf } from '../model/route.ts'
import { defineCommand } from './command.ts'
import { loadWithTables } from './load-tables.ts'
import { CONFIG, JSON_OUTPUT } from './shared-options.ts'
import { columns } from './screen.ts'

export const routes = defineCommand(
  {
    name: 'routes',
    summary: 'Prints the compiled route table: method, path, permission, upstream, file:line.',
    details:
      'If any table lists hosts, the host precedes the path; - stands for the hosts that no table lists.',
    options: {
      filter: {
        type: 'string',
        value: 'GLOB',
        description: 'only routes whose path matches, such as "/v1/**"',
      },
      permission: { type: 'string', value: 'P', description: 'only routes that require this permission' },
      upstream: { type: 'string', value: 'U', description: 'only routes that lead to this upstream' },
      public: { type: 'boolean', description: 'only routes that need no credential' },
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: { 0: 'the table was printed', 1: 'the configuration has faults' },
    example: 'seatgate routes --permission trainings:list',
  },
  async ({ values }, terminal) => {
    const { table } = await loadWithTables(values.config, terminal.env)
    const withHosts = table.routes.some(({ hosts }) => hosts.length > 0)
    const rows = table.routes
      .map((route) => row(route, withHosts))
      .filter(({ path, permission, upstream }) => {
        if (values.filter !== undefined && !posix.matchesGlob(path, values.filter)) return false
        if (values.permission !== undefined && permission !== values.permission) return false
        if (values.upstream !== undefined && upstream !== values.upstream) return false
        return !values.public || permission === 'public'
      })
    if (values.json) await terminal.print(JSON.stringify(rows, null, 2))
    else if (rows.length > 0) await terminal.print(asText(rows))
    else terminal.printError('seatgate routes: no route matches')
  },
)

/**
 * The line of a built-in route is 0.
 *
 * @param withHosts some table names hosts: joined by commas; null: those that no table names
 */
function row(route: Route, withHosts: boolean) {
  const { method, hosts, path, requirement, cors, rateLimits, place } = route
  const host = hosts.length === 0 ? null : hosts.join(',')
  return {
    method,
    ...(withHosts ? { host } : {}),
    path,
    permission: requirement,
    upstream: upstreamOf(route),
    file: place?.file ?? BUILT_IN,
    line: place?.line ?? 0,
    ...(cors === null ? {} : { cors: cors.origins }),
    ...(rateLimits === null ? {} : { rate_limit: rateLimits.map(({ name }) => name) }),
  }
}

function asText(rows: readonly ReturnType<typeof row>[]): string {
  return columns(
    rows.map(({ method, host, path, permission, upstream, file, line }) => [
      method,
      ...(host === undefined ? [] : [host ?? '-']),
      path,
      permission,
      upstream,
      file === BUILT_IN ? file : `${file}:${line}`,
    ]),
  )
}
