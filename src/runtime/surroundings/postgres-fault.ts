/** Why PostgreSQL could not be used. */

import type { Finding, Reason } from './fault.ts'
import { findingTable } from './finding-table.ts'
import { networkFinding } from './network-fault.ts'

const DEFAULT_PORT = '5432'

/** Faults by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html) or the store's own code. */
const findings = findingTable({
  '28P01': ['{at} refused the password of user {user}', 'Check the password in {setting}'],
  NO_PASSWORD: [
    '{at} requires a password of user {user}, and none is given',
    'Add it in {setting}: postgres://USER:PASSWORD@HOST/DATABASE',
  ],
  '28000': [
    '{at} does not admit user {user} to database {database} from this machine ({message})',
    'Check the user in {setting}, add sslmode=require there if the server requires TLS, or admit the user in pg_hba.conf',
  ],
  '3D000': [
    '{at} has no database {database}',
    'Create it (CREATE DATABASE {databaseId} OWNER {userId}), or correct the database in {setting}',
  ],
  '42501': [
    '{at} does not permit user {user} to create or use the tables of the store in database {database}',
    'Give the user a schema there (CREATE SCHEMA seatgate AUTHORIZATION {userId}), or rights on the tables of an existing one',
  ],
  '53300': [
    '{at} has no connection left',
    'Raise its max_connections, or close connections of other programs',
  ],
  '53100': ['the disk of {at} is full', 'Free some space there'],
  '57P03': ['{at} is starting or stopping', 'Wait, or see its log for the reason'],
  '25006': ['{at} accepts reads only', 'Name the primary in {setting}'],
  SHARED_SESSIONS: [
    '{at} is a connection pooler in transaction or statement mode, whose clients share sessions',
    'Name PostgreSQL itself in {setting}, or set pool_mode = session for this database in the pooler',
  ],
  STANDBY: ['{at} is a standby', 'Name the primary in {setting}'],
  OLD_SERVER: ['{at} is older than PostgreSQL 13', 'Upgrade it, or name a newer server in {setting}'],
  ENCODING: [
    '{message}',
    "Create the database again (CREATE DATABASE {databaseId} ENCODING 'UTF8' TEMPLATE template0)",
  ],
  NEWER_SCHEMA: [
    '{message}',
    'Start the newer Seatgate, or restore a backup that is older than its first start, or name another database in {setting}',
  ],
  DAMAGED: ['{message}', 'Restore the schema seatgate of database {databaseId} from a backup, in whole'],
  NO_TLS: [
    '{at} speaks no TLS, which sslmode requires',
    'Switch TLS on in the server, or remove sslmode from {setting} if the network is trusted',
  ],
  other: ['{message}', 'See the log of PostgreSQL for the reason, and check {setting}'],
})

/**
 * @param url valid: it was checked when the configuration was loaded
 * @param setting what to edit
 * @param cause the error of the reason
 */
export function postgresFinding(
  url: string,
  setting: string,
  { code, message }: Reason,
  cause: unknown = null,
): Finding {
  const parts = new URL(url)
  const [host = '', user = '', database = ''] = [parts.hostname, parts.username, parts.pathname.slice(1)].map(
    decodeURIComponent,
  )
  const at = `PostgreSQL at ${host}:${parts.port || DEFAULT_PORT}`
  const server = { name: 'PostgreSQL', at, host, setting, authorities: 'sslrootcert' }
  const key = code === '28P01' && parts.password === '' ? 'NO_PASSWORD' : code
  const [userId, databaseId] = [identifier(user), identifier(database)]
  return (
    networkFinding(server, key, cause) ??
    findings(key, { ...server, user, userId, database, databaseId, message })
  )
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
