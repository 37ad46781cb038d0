/** Why PostgreSQL could not be used. */

import type { Finding, Reason } from './fault.ts'
import { networkFinding, type ServerText } from './network-fault.ts'

const DEFAULT_PORT = '5432'

interface About extends ServerText {
  readonly user: string
  readonly database: string
  /** Without credentials. */
  readonly message: string
}

/** @param url checked when the configuration was loaded @param setting what to edit @param cause of the reason */
export function postgresFinding(
  url: string,
  setting: string,
  { code, message }: Reason,
  cause: unknown = null,
): Finding {
  const parts = new URL(url)
  const host = decodeURIComponent(parts.hostname)
  const about: About = {
    name: 'PostgreSQL',
    at: `PostgreSQL at ${host}:${parts.port || DEFAULT_PORT}`,
    host,
    setting,
    authorities: 'sslrootcert',
    user: decodeURIComponent(parts.username),
    database: decodeURIComponent(parts.pathname.slice(1)),
    message,
  }
  if (code === '28P01' && parts.password === '') return noPassword(about)
  return networkFinding(about, code, cause) ?? (FINDINGS[code] ?? other)(about)
}

/** By SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html) or the store's own code. */
const FINDINGS: Readonly<Record<string, (about: About) => Finding>> = {
  '28P01': ({ at, user, setting }) => ({
    cause: `${at} refused the password of user ${user}`,
    advice: `Check the password in ${setting}`,
  }),
  NO_PASSWORD: noPassword,
  '28000': ({ at, user, database, setting, message }) => ({
    cause: `${at} does not admit user ${user} to database ${database} from this machine (${message})`,
    advice: `Check the user in ${setting}, add sslmode=require there if the server requires TLS, or admit the user in pg_hba.conf`,
  }),
  '3D000': ({ at, user, database, setting }) => ({
    cause: `${at} has no database ${database}`,
    advice: `Create it (CREATE DATABASE ${identifier(database)} OWNER ${identifier(user)}), or correct the database in ${setting}`,
  }),
  '42501': ({ at, user, database }) => ({
    cause: `${at} does not permit user ${user} to create or use the tables of the store in database ${database}`,
    advice: `Give the user a schema there (CREATE SCHEMA seatgate AUTHORIZATION ${identifier(user)}), or rights on the tables of an existing one`,
  }),
  '53300': ({ at }) => ({
    cause: `${at} has no connection left`,
    advice: 'Raise its max_connections, or close connections of other programs',
  }),
  '53100': ({ at }) => ({ cause: `the disk of ${at} is full`, advice: 'Free some space there' }),
  '57P03': ({ at }) => ({
    cause: `${at} is starting or stopping`,
    advice: 'Wait, or see its log for the reason',
  }),
  '25006': ({ at, setting }) => ({
    cause: `${at} accepts reads only`,
    advice: `Name the primary in ${setting}`,
  }),
  SHARED_SESSIONS: ({ at, setting }) => ({
    cause: `${at} is a connection pooler in transaction or statement mode, whose clients share sessions`,
    advice: `Name PostgreSQL itself in ${setting}, or set pool_mode = session for this database in the pooler`,
  }),
  STANDBY: ({ at, setting }) => ({
    cause: `${at} is a standby`,
    advice: `Name the primary in ${setting}`,
  }),
  OLD_SERVER: ({ at, setting }) => ({
    cause: `${at} is older than PostgreSQL 13`,
    advice: `Upgrade it, or name a newer server in ${setting}`,
  }),
  ENCODING: ({ message, database }) => ({
    cause: message,
    advice: `Create the database again (CREATE DATABASE ${identifier(database)} ENCODING 'UTF8' TEMPLATE template0)`,
  }),
  NEWER_SCHEMA: ({ message, setting }) => ({
    cause: message,
    advice: `Start the newer Seatgate, or restore a backup that is older than its first start, or name another database in ${setting}`,
  }),
  DAMAGED: ({ message, database }) => ({
    cause: message,
    advice: `Restore the schema seatgate of database ${identifier(database)} from a backup, in whole`,
  }),
  NO_TLS: ({ at, setting }) => ({
    cause: `${at} speaks no TLS, which sslmode requires`,
    advice: `Switch TLS on in the server, or remove sslmode from ${setting} if the network is trusted`,
  }),
}

function noPassword({ at, user, setting }: About): Finding {
  return {
    cause: `${at} requires a password of user ${user}, and none is given`,
    advice: `Add it in ${setting}: postgres://USER:PASSWORD@HOST/DATABASE`,
  }
}

function other({ message, setting }: About): Finding {
  return { cause: message, advice: `See the log of PostgreSQL for the reason, and check ${setting}` }
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
