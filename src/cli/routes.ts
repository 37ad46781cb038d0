/** `seatgate routes`: lists the compiled table, built-in routes included. */

import { posix } from 'node:path'
import { BUILT_IN } from '../access/access-change.ts'
import { routeRow, type RouteRow } from '../access/listed-routes.ts'
import type { Route } from '../model/route.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT } from './arguments.ts'
import { defineCommand, type Terminal } from './command.ts'
import { loadDecidingTables } from './deciding-tables.ts'
import type { RouteView } from './remote/endpoint-answers.ts'
import { REMOTE, type RemoteValues, withGateway } from './remote/gateway-options.ts'
import { shortTime } from './remote/list-output.ts'
import { columns } from './screen.ts'

export const routes = defineCommand({
  name: 'routes',
  summary: 'Prints the compiled route table: method, path, permission, upstream, file:line.',
  details:
    'If any table lists hosts, the host precedes the path; - stands for the hosts that no table lists.',
  options: {
    filter: { value: 'GLOB', description: 'only routes whose path matches, such as "/v1/**"' },
    permission: { value: 'P', description: 'only routes that require this permission' },
    upstream: { value: 'U', description: 'only routes that lead to this upstream' },
    public: { description: 'only routes that need no credential' },
    config: CONFIG,
    ...REMOTE,
    url: {
      ...REMOTE.url,
      description:
        'asks the gateway at this address instead of reading the configuration; the list also has how often the tenant has used each route of that instance',
    },
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'the table was printed',
    1: 'the configuration has faults; with --url: the gateway refused the request, or could not be reached',
  },
  example: 'seatgate routes --permission trainings:list',
  run: async ({ values }, terminal) => {
    const all =
      values.url === undefined ? await ofTables(values.config, terminal) : await ofGateway(values, terminal)
    const rows = all.filter(({ path, permission, upstream }) => {
      if (values.filter !== undefined && !posix.matchesGlob(path, values.filter)) return false
      if (values.permission !== undefined && permission !== values.permission) return false
      if (values.upstream !== undefined && upstream !== values.upstream) return false
      return !values.public || permission === 'public'
    })
    if (values.json) await terminal.print(JSON.stringify(rows, null, 2))
    else if (rows.length > 0) await terminal.print(asText(rows))
    else terminal.printError('seatgate routes: no route matches')
  },
})

type Row = RouteRow | RouteView

async function ofTables(config: string, terminal: Terminal): Promise<Row[]> {
  const { table } = await loadDecidingTables(config, terminal)
  const withHosts = table.routes.some(({ hosts }) => hosts.length > 0)
  return table.routes.map((route) => row(route, withHosts))
}

function ofGateway(values: RemoteValues, terminal: Terminal): Promise<Row[]> {
  return withGateway(values, terminal, async (gateway) => {
    const rows: Row[] = []
    const last = ({ method, path }: RouteView) => `${method} ${path}`
    for await (const page of gateway.pages<RouteView>('/v1/routes', last)) rows.push(...page)
    return rows
  })
}

/** @param withHosts some table names hosts */
function row(route: Route, withHosts: boolean) {
  const { cors, rateLimits } = route
  return {
    ...routeRow(route, withHosts),
    ...(cors === null ? {} : { cors: cors.origins }),
    ...(rateLimits === null ? {} : { rate_limit: rateLimits.map(({ name }) => name) }),
  }
}

function asText(rows: readonly Row[]): string {
  return columns(
    rows.map((each) => {
      const { method, host, path, permission, upstream, file, line } = each
      return [
        method,
        ...(host === undefined ? [] : [host ?? '-']),
        path,
        permission,
        upstream,
        file === BUILT_IN ? file : `${file}:${line}`,
        ...('requests' in each ? [usesOf(each)] : []),
      ].map(printable)
    }),
  )
}

function usesOf({ requests, last_at: last }: RouteView): string {
  return last === null ? 'not used' : `used ${requests} times, last ${shortTime(last)}`
}
