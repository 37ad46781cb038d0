/** Faults of PostgreSQL: the server is away, or refuses. */

import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { MIGRATIONS } from '../../../seats-admin/store/postgres/postgres-migrations.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { type Case, endsWith, logs, PASSWORD } from './support.ts'

const SETTING = '${SEATGATE_STORE}'
const AT = 'gateway.config.yaml:3:8: store:'
/** Quick: these are not about the wait. */
const more = 'startup_timeout: 1s\n'

const server = await startPostgres(t)
const at = `PostgreSQL at 127.0.0.1:${server.port}`
for (const name of ['gate', 'modest']) await server.query(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'`)
await server.query(`CREATE ROLE barred NOLOGIN PASSWORD '${PASSWORD}'`)
await server.createDatabase('empty')
const newer = await server.createDatabase('newer')
await (await openStore({ kind: 'postgres', url: newer })).close()
await server.query('UPDATE seatgate.schema_version SET version = 99', [], 'newer')
await server.query('GRANT USAGE ON SCHEMA seatgate TO gate', [], 'newer')
await server.query('GRANT SELECT ON ALL TABLES IN SCHEMA seatgate TO gate', [], 'newer')

interface Url {
  readonly user?: string
  readonly password?: string | null
  readonly host?: string
  readonly port?: number
  readonly database?: string
  readonly query?: string
}

function url({ user = 'gate', password = PASSWORD, host = '127.0.0.1', ...rest }: Url): string {
  const { port = server.port, database = 'empty', query = '' } = rest
  const login = password === null ? user : `${user}:${password}`
  return `postgres://${login}@${host}:${port}/${database}${query}`
}

const down = await reservePort(t)
const refused = `PostgreSQL at 127.0.0.1:${down} refused the connection (ECONNREFUSED). Start PostgreSQL, or correct host and port in ${SETTING}.`

const cases: Case[] = [
  {
    fault: 'down, until the timeout',
    more,
    store: url({ port: down }),
    message:
      /^\S+ store: gave up after 1 s \(startup_timeout\): PostgreSQL at 127\.0\.0\.1:\d+ (refused the connection \(ECONNREFUSED\)\. Start PostgreSQL, or correct host and port in \$\{SEATGATE_STORE\}\.$|has not responded in time)/,
  },
  {
    fault: 'the host name is unknown',
    more,
    store: url({ host: 'absent.invalid', port: 5432 }),
    message:
      /store: gave up after 1 s \(startup_timeout\): (the host name of PostgreSQL at absent\.invalid:5432 is unknown \((ENOTFOUND|EAI_AGAIN)\)\. Correct the host in \$\{SEATGATE_STORE\}, or make the name server of this machine resolve absent\.invalid|PostgreSQL at absent.invalid:5432 has not responded in time)/,
  },
  {
    fault: 'a wrong password',
    store: url({ password: `${PASSWORD}-wrong` }),
    message: `${AT} ${at} refused the password of user gate. Check the password in ${SETTING}.`,
  },
  {
    fault: 'no password',
    store: url({ password: null }),
    message: `${AT} ${at} requires a password of user gate, and none is given. Add it in ${SETTING}: postgres://USER:PASSWORD@HOST/DATABASE.`,
  },
  {
    fault: 'an unknown database',
    store: url({ database: 'absent' }),
    message: `${AT} ${at} has no database absent. Create it (CREATE DATABASE "absent" OWNER "gate"), or correct the database in ${SETTING}.`,
  },
  {
    fault: 'a schema of a newer version',
    store: url({ database: 'newer' }),
    message: `${AT} the store postgres://127.0.0.1:${server.port}/newer: the store has version 99, from a newer Seatgate; this one supports up to ${MIGRATIONS.length}. Start the newer Seatgate, or restore a backup that is older than its first start, or name another database in ${SETTING}.`,
  },
  {
    fault: 'a role that may not create tables',
    store: url({ user: 'modest' }),
    message: `${AT} ${at} does not permit user modest to create or use the tables of the store in database empty. Give the user a schema there (CREATE SCHEMA seatgate AUTHORIZATION "modest"), or rights on the tables of an existing one.`,
  },
  {
    fault: 'a role that may not log in',
    store: url({ user: 'barred' }),
    message:
      /store: PostgreSQL at \S+ does not admit user barred to database empty from this machine \(.*not permitted to log in\)\. Check the user in \$\{SEATGATE_STORE\}, add sslmode=require/,
  },
  {
    fault: 'no TLS',
    store: url({ query: '?sslmode=require' }),
    message: `${AT} ${at} speaks no TLS, which sslmode requires. Switch TLS on in the server, or remove sslmode from ${SETTING} if the network is trusted.`,
  },
]

t.test('the start ends', async (t) => {
  for (const each of cases) await endsWith(t, each)
})

t.test('while the start waits, each line says what for', async (t) => {
  const waiting = { fault: 'down', store: url({ port: down }), message: `${AT} ${refused}` }
  await logs(t, { ...waiting, ownProcess: true, about: 'store' }, 'cause', 2)
})
