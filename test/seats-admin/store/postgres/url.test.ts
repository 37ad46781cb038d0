import { join } from 'node:path'
import t from 'tap'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { CERTIFICATES } from '../../../support/servers/tls.ts'

const { files } = CERTIFICATES

function password(url: string): unknown {
  const { password } = parseUrl(url).client
  return typeof password === 'function' ? password() : password
}

t.test('the parts of a URL, and their defaults', async (t) => {
  const whole = parseUrl('postgresql://anna:p%40ss@db.example:6432/seats?application_name=gate')
  t.equal(whole.place, 'postgres://db.example:6432/seats')
  t.match(whole.client, { user: 'anna', host: 'db.example', port: 6432, database: 'seats', ssl: false })
  t.equal(whole.client.application_name, 'gate')
  t.match(parseUrl('postgres://anna@h').client, { host: 'h', port: 5432, database: 'anna' })
  t.match(parseUrl('postgres://anna@[::1]/x'), { place: 'postgres://[::1]:5432/x', client: { host: '::1' } })
  t.match(parseUrl('postgres://anna@%2Fvar%2Frun/x').client, { host: '/var/run' }, 'a folder of sockets')
  t.equal(password('postgres://anna:p,w@h/x'), 'p,w', 'a comma of a password names no host')
  for (const attributes of ['any', 'read-write', 'primary'])
    t.match(parseUrl(`postgres://anna@h/x?target_session_attrs=${attributes}`).client, { host: 'h' })
  t.match(parseUrl('postgres://a%2Fb@h/x%20y').client, { user: 'a/b', database: 'x y' })
})

t.test('passwords, also with special characters', async (t) => {
  t.equal(password('postgres://anna:p%40s%2Fs%3F%23%25@h/x'), 'p@s/s?#%')
  t.equal(password('postgres://anna:p@ss@h/x'), 'p@ss', 'the last @ ends the password')
  t.equal(password('postgres://anna@h/x'), '', 'none: no other source of passwords is used')
})

t.test('a password that breaks the URL is not shown in parts', async (t) => {
  for (const secret of ['12/tail', '12?tail', '12#tail', 'tail/12', 'a?tail=x', 'tail%', 'tail#']) {
    for (const end of ['@h/x', '@h', '@h:5432/x?sslmode=disable']) {
      const url = `postgres://anna:${secret}${end}`
      try {
        parseUrl(url)
        t.fail(`${url} was accepted`)
      } catch (cause) {
        t.match(cause, /percent-encoded/)
        t.notMatch(String(cause), /tail|12/)
      }
    }
  }
})

t.test('refused URLs', async (t) => {
  const faults: Record<string, RegExp> = {
    'http://anna@h/x': /must begin with postgres:/,
    '/var/lib/x': /the URL is not valid/,
    'postgres://anna@/x': /the URL is not valid/,
    'postgres://h/x': /has no user name/,
    'postgres://anna@h/x?sslmod=require': /unknown parameter, "sslmod"/,
    'postgres://anna@h/x?sslmode=disable&sslmode=require': /the parameter sslmode twice/,
    'postgres://anna@h/x?sslmode=prefer': /sslmode must be one of disable, require, verify-ca, verify-full/,
    'postgres://anna@h/x?sslmode=prefer&sslrootcert=system':
      /Write require or verify-full for a server with TLS, disable/,
    'postgres://anna@h/x?sslmode=allow': /allow may connect without TLS\. Write require/,
    'postgres://anna@h/x?sslmode=require&sslrootcert=system':
      /sslrootcert=system requires sslmode=verify-full/,
    'postgres://anna@one,two/x': /names several hosts: name one that leads to the primary/,
    'postgres://anna:p,w@one:5432,two:5433/x?target_session_attrs=read-write':
      /names several hosts: name one/,
    'postgresql://anna@[::1]:5432,[::2]:5432': /names several hosts/,
    'postgres://anna@h/x?target_session_attrs=standby':
      /target_session_attrs must be primary, or be left out/,
    'postgres://anna@h/x?target_session_attrs=prefer-standby': /the store needs the primary/,
    'postgres://anna@h/x?host=other':
      /unknown parameter, "host": the known ones are sslmode, .*, target_session_attrs/,
    'postgres://anna@h/x?sslmode=verify-ca': /verify-ca requires sslrootcert/,
    'postgres://anna@h/x?sslmode=verify-full&sslrootcert=/absent/ca.pem':
      /sslrootcert cannot be read: ENOENT/,
    [`postgres://anna@h/x?sslmode=require&sslcert=${files.client}`]:
      /sslcert and sslkey must be set together/,
    [`postgres://anna@h/x?sslrootcert=${files.ca}`]:
      /certificate files require an sslmode other than disable/,
    'postgres://anna@%2Frun/x?sslmode=require': /TLS is not available on a Unix socket/,
    'postgres://anna@h/x%': /an invalid percent-encoding/,
  }
  for (const [url, fault] of Object.entries(faults)) t.throws(() => parseUrl(url), fault, url)
})

t.test('TLS by sslmode', async (t) => {
  const ssl = (query: string) => parseUrl(`postgres://anna@h/x?${query}`).client.ssl
  const root = `sslrootcert=${encodeURIComponent(join(files.ca))}`
  const never = { checkServerIdentity: undefined }
  t.equal(ssl('sslmode=disable'), false)
  t.match(ssl('sslmode=require'), { rejectUnauthorized: false })
  t.match(ssl(`sslmode=require&${root}`), { rejectUnauthorized: true, checkServerIdentity: Function })
  t.match(ssl(`sslmode=verify-ca&${root}`), { rejectUnauthorized: true, checkServerIdentity: Function })
  t.match(ssl(`sslmode=verify-full&${root}`), { rejectUnauthorized: true, ca: String, ...never })
  t.match(ssl('sslmode=verify-full'), { rejectUnauthorized: true, ca: undefined, ...never })
  for (const query of ['sslrootcert=system', 'sslmode=verify-full&sslrootcert=system'])
    t.match(ssl(query), { rejectUnauthorized: true, ca: Array, ...never }, query)
})
