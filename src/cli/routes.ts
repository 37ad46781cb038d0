/** `seatgate routes`: lists the compiled table, built-in routes included. */

import type { Route } from '../model/route.ts'
import { defineCommand } from './command.ts'
import { loadWithTables } from './load.ts'
import { CONFIG, JSON_OUTPUT } from './options.ts'

export const routes = defineCommand(
  {
    name: 'routes',
    summary: 'Prints the compiled route table: method, path, permission, upstream, file:line.',
    options: { config: CONFIG, json: JSON_OUTPUT },
    exits: { 0: 'the table is printed', 1: 'the configuration has faults' },
    example: 'seatgate routes --config my/gateway.config.yaml',
  },
  async ({ values }, terminal) => {
    const { table } = await loadWithTables(values.config, terminal.env)
    const rows = table.routes.map(row)
    await terminal.print(values.json ? JSON.stringify(rows, null, 2) : columns(rows))
  },
)

/** The file of a built-in route; its line is 0. */
const BUILT_IN = '(built in)'

function row({ method, path, requirement, target, place }: Route) {
  return {
    method,
    path,
    permission: requirement,
    upstream: target.kind === 'upstream' ? target.name : 'seatgate',
    file: place?.file ?? BUILT_IN,
    line: place?.line ?? 0,
  }
}

function columns(rows: readonly ReturnType<typeof row>[]): string {
  const cells = rows.map(({ method, path, permission, upstream, file, line }) => [
    method,
    path,
    permission,
    upstream,
    file === BUILT_IN ? file : `${file}:${line}`,
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((cell) => cell[column]?.length ?? 0)))
  return cells
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n')
}
