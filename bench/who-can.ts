/**
 * `node bench/who-can.ts [--seats 10000,1000000]`: time and memory of `seatgate who-can` and `seatgate can` among many Seats of
 * one tenant in PostgreSQL, with 10,000 API keys. Prints Markdown.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { runCommand } from './command-run.ts'
import { machine } from './results.ts'
import { Ending } from './scale/ending.ts'
import { fill } from './scale/fill.ts'
import { type Seat, seatOf } from './scale/population.ts'
import { startServers } from './scale/servers.ts'

const { values } = parseArgs({ options: { seats: { type: 'string', default: '10000,1000000' } } })

const SEATGATE = resolve(import.meta.dirname, '../src/cli/seatgate.js')
const SECRET = 'bench-bench-bench-bench-bench-bench'
const TENANT = 'acme'
const KEYS = 10_000
/** One Seat in so many holds the permission that is looked for, and one has `*`. */
const [RARE, EVERY] = [50_000, 100_000]

const KEYS_OF_SEATS = `WITH chosen AS (SELECT id, row_number() OVER (ORDER BY id) AS at FROM
    (SELECT id FROM seatgate.seats WHERE tenant = $1 ORDER BY id LIMIT $2) few),
  keys AS (INSERT INTO seatgate.api_keys (tenant, id, name, hash, created_by, created_at)
    SELECT $1, lpad(at::text, 26, '0'), 'Key ' || at, sha256(at::text::bytea), 'bench', 0 FROM chosen RETURNING id)
  INSERT INTO seatgate.api_key_seats (tenant, api_key_id, position, seat_id)
    SELECT $1, lpad(at::text, 26, '0'), 0, id FROM chosen WHERE (SELECT count(*) FROM keys) > 0`

function* seatsOf(count: number): Generator<Seat> {
  for (let at = 0; at < count; at++) {
    const seat = { ...seatOf(at, at), tenant: TENANT, name: `Role ${at}` }
    if (at % EVERY === 7) yield { ...seat, permissions: ['*'] }
    else if (at % RARE === 5) yield { ...seat, permissions: [...seat.permissions, 'trainings:purge'] }
    else yield seat
  }
}

function writeConfiguration(folder: string, url: string): void {
  const config = `listen: 127.0.0.1:0
store: ${JSON.stringify(url)}
tenants: { ${TENANT}: { token: { secrets: ["\${SECRET}"] } } }
upstreams: { main: { targets: ["http://127.0.0.1:9"] } }
routes: [routes/*.yaml]
`
  mkdirSync(join(folder, 'routes'))
  writeFileSync(join(folder, 'gateway.config.yaml'), config, { mode: 0o600 })
  const routes = Array.from({ length: 1000 }, (_, at) => `  GET /v1/things-${at}: things-${at}:read`)
  const few = ['  DELETE /v1/trainings/{id}: trainings:purge', '  GET /v1/trainings: trainings:list']
  writeFileSync(
    join(folder, 'routes', 'main.yaml'),
    ['upstream: main', 'routes:', ...routes, ...few, ''].join('\n'),
  )
}

const QUESTIONS: readonly (readonly [title: string, ...args: string[]])[] = [
  ['who-can, a permission of few', 'who-can', 'DELETE', '/v1/trainings/7', '--json'],
  ['who-can, of few, in one space', 'who-can', 'DELETE', '/v1/trainings/7', '--space', 'site-3', '--json'],
  ['who-can, a permission of none but `*`', 'who-can', '--permission', 'never:granted', '--json'],
  ['who-can, the first line of all', 'sh'],
  ['can, one Seat', 'can', '--seat', 'Role 4', '--json'],
]

const rows: string[] = []
for (const seats of values.seats.split(',').map(Number)) {
  const ending = new Ending()
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-who-can-'))
  try {
    const { postgres } = await startServers(ending)
    const url = await postgres.createDatabase('seatgate')
    await fill(url, seats, seatsOf(seats))
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(KEYS_OF_SEATS, [TENANT, Math.min(KEYS, seats)])
    await client.query('VACUUM ANALYZE')
    await client.end()
    writeConfiguration(folder, url)
    const idle = await runCommand(process.execPath, [SEATGATE, 'routes', '--json'], folder, {
      env: { SECRET },
      keep: false,
    })
    for (const [title, ...args] of QUESTIONS) {
      const ran =
        args[0] === 'sh'
          ? await runCommand(
              'sh',
              ['-c', `"$0" "$1" who-can GET /v1/trainings | head -2`, process.execPath, SEATGATE],
              folder,
              { env: { SECRET } },
            )
          : await runCommand(process.execPath, [SEATGATE, ...args], folder, { env: { SECRET } })
      if (ran.code !== 0) throw new Error(`${title}: exit code ${ran.code}`)
      const cells = [
        seats.toLocaleString('en'),
        title,
        `${ran.seconds.toFixed(2)} s`,
        `${(ran.seconds - idle.seconds).toFixed(2)} s`,
        `${Math.round(ran.memory)} MiB`,
      ]
      rows.push(`| ${cells.join(' | ')} |`)
    }
  } finally {
    await ending.run()
    rmSync(folder, { recursive: true, force: true })
  }
}
const titles = ['Seats', 'question', 'process', 'of it, beyond a start', 'memory']
console.log(
  [machine(), '', `| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...rows].join('\n'),
)
