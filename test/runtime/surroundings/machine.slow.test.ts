/** Faults of the machine: ports, folders, certificates, limits, the clock, the disk, the log. */

import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { openSqliteStore } from '../../../seats-admin/index.ts'
import { listen } from '../../support/listen.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'
import { served } from '../../support/served.ts'
import { until } from '../../support/until.ts'
import { type Case, endsWith, launch, logs } from './support.ts'

const AT = 'gateway.config.yaml:'

/** Without the right to ports below 1024; null: on this machine, everybody has it. */
function privilegedPort(): number | null {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
    return first > 80 ? 80 : null
  } catch {
    return null
  }
}

async function store(folder: string, change: (database: DatabaseSync) => void = () => {}): Promise<string> {
  const path = join(folder, 'seatgate.db')
  await (await openSqliteStore({ path })).close()
  using database = new DatabaseSync(path)
  change(database)
  return path
}

t.test('ports', async (t) => {
  const port = await listen(t, createServer())
  const advice = `Stop that process, which "ss -ltnp sport = :${port}" shows, or choose another port in`
  const cases: Case[] = [
    {
      fault: 'the port of listen is taken',
      listen: `127.0.0.1:${port}`,
      message: `${AT}1:9: listen: port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE). ${advice} listen.`,
    },
    {
      fault: 'the port of listen is taken, with workers',
      listen: '${FRONT}',
      more: 'workers: 2\n',
      env: { FRONT: `127.0.0.1:${port}` },
      message: `${AT}1:9: listen: port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE). ${advice} \${FRONT}.`,
    },
    {
      fault: 'the port of the second listener is taken',
      listen: `[{ address: "127.0.0.1:0" }, { address: "127.0.0.1:${port}" }]`,
      message: `${AT}1:49: listen[1].address: port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE). ${advice} listen[1].address.`,
    },
    {
      fault: 'the port of ops is taken',
      ops: `127.0.0.1:${port}`,
      message: `${AT}2:6: ops: port ${port} of 127.0.0.1 is in use by another process (EADDRINUSE). ${advice} ops.`,
    },
    {
      fault: 'an address of another machine',
      listen: '192.0.2.1:8080',
      message: `${AT}1:9: listen: this machine has no address 192.0.2.1 (EADDRNOTAVAIL). Choose one of its addresses in listen, or 0.0.0.0 for all of them.`,
    },
  ]
  for (const each of cases) await endsWith(t, each)
})

t.test('a port below 1024', async (t) => {
  const port = privilegedPort()
  if (port === null) return void t.pass({ skip: 'every user of this machine may listen on port 80' })
  await endsWith(t, {
    fault: 'no privilege',
    listen: `127.0.0.1:${port}`,
    asNobody: true,
    message: `${AT}1:9: listen: port 80 is below 1024, and this user (uid USER) may not listen on it (EACCES). Choose a port from 1024 in listen, or permit this one: AmbientCapabilities=CAP_NET_BIND_SERVICE in the systemd unit, or "sysctl net.ipv4.ip_unprivileged_port_start=80".`,
  })
})

t.test('the file of the store', async (t) => {
  const path = 'DIR/seatgate.db'
  const where = '${SEATGATE_STORE}'
  const right = `Give this user the right to read and write the folder DIR and the files in it, or choose another path in ${where}.`
  const foreign = `Choose another path in ${where}, or move the file away; a missing file is created.`
  const cases: Case[] = [
    {
      fault: 'the folder is missing and cannot be created',
      store: 'sqlite:./missing/seatgate.db',
      prepare: (folder) => chmodSync(folder, 0o555),
      asNobody: true,
      message: `${AT}3:8: store: the folder DIR/missing does not exist and cannot be created (EACCES). Create it so that this user (uid USER) may read and write it, or correct the path in ${where}.`,
    },
    {
      fault: 'a file system that creates no folder',
      store: 'sqlite:/proc/missing/seatgate.db',
      message: `${AT}3:8: store: the folder /proc/missing does not exist and cannot be created (ENOENT). Create it so that this user (uid USER) may read and write it, or correct the path in ${where}.`,
    },
    {
      fault: 'a file in place of the folder',
      store: 'sqlite:./file/seatgate.db',
      prepare: (folder) => writeFileSync(join(folder, 'file'), ''),
      message:
        /^gateway\.config\.yaml:3:8: store: DIR\/file, or a folder above it, is a file \((?:EEXIST|ENOTDIR)\)\. Correct the path in \$\{SEATGATE_STORE\}, or move that file away\.$/,
    },
    {
      fault: 'the folder is not writable',
      prepare: (folder) => chmodSync(folder, 0o555),
      asNobody: true,
      message: `${AT}3:8: store: this user (uid USER) may not write the store ${path} or its folder (EACCES). ${right}`,
    },
    {
      fault: 'the folder cannot be entered',
      store: 'sqlite:./closed/seatgate.db',
      prepare: (folder) => mkdirSync(join(folder, 'closed'), { mode: 0o400 }),
      asNobody: true,
      message: `${AT}3:8: store: this user (uid USER) may not write the store DIR/closed/seatgate.db or its folder (EACCES). Give this user the right to read and write the folder DIR/closed and the files in it, or choose another path in ${where}.`,
    },
    {
      fault: 'the file is not writable',
      prepare: async (folder) => chmodSync(await store(folder), 0o444),
      asNobody: true,
      message: `${AT}3:8: store: this user (uid USER) may not write the store ${path} or its folder (EACCES). ${right}`,
    },
    {
      fault: 'the file is not a database',
      prepare: (folder) => writeFileSync(join(folder, 'seatgate.db'), 'a text, not a database\n'.repeat(99)),
      message: `${AT}3:8: store: the file ${path} is not a Seatgate store, and was left as it is (the store ${path} cannot be opened: file is not a database). ${foreign}`,
    },
    {
      fault: 'the database of another program',
      prepare: (folder) => {
        using database = new DatabaseSync(join(folder, 'seatgate.db'))
        database.exec('CREATE TABLE theirs (x)')
      },
      message: `${AT}3:8: store: the file ${path} is not a Seatgate store, and was left as it is (the store ${path} cannot be opened: the file is not a Seatgate store). ${foreign}`,
    },
    {
      fault: 'a store of a newer version',
      prepare: (folder) => store(folder, (database) => database.exec('PRAGMA user_version = 99')),
      message:
        /^gateway\.config\.yaml:3:8: store: the store DIR\/seatgate\.db cannot be opened: the store has version 99, from a newer Seatgate; this one supports up to \d+\. Start the newer Seatgate, or restore a backup that is older than its first start, or choose another path in \$\{SEATGATE_STORE\}\.$/,
    },
  ]
  for (const each of cases) await endsWith(t, each)
})

t.test('the disk is full', async (t) => {
  const mount = 'mount -t tmpfs -o size=16k none ./disk && exec "$@"'
  const through = ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh']
  const folder = t.testdir({ disk: {} })
  const [command = '', ...args] = [...through, 'true']
  if (spawnSync(command, args, { cwd: folder }).status !== 0)
    return void t.pass({ skip: 'this machine does not allow mounting a disk' })
  await endsWith(t, {
    fault: 'no room for a store',
    store: 'sqlite:./disk/seatgate.db',
    prepare: (folder) => mkdirSync(join(folder, 'disk')),
    through,
    message:
      /^gateway\.config\.yaml:3:8: store: the disk of the store DIR\/disk\/seatgate\.db is full \((?:ENOSPC|SQLITE_FULL)\)\. Free some space for the folder DIR\/disk, 1 MiB at least, or choose another path in \$\{SEATGATE_STORE\}\.$/,
  })
})

t.test('certificates of an upstream', async (t) => {
  const { ca, client, clientKey, expired, expiredKey, serverKey } = CERTIFICATES.files
  const tls = (entries: string) => `targets: ["https://127.0.0.1:9"], tls: { ${entries} }`
  const [authority, pair] = [tls('ca: ca.pem'), tls('cert: cert.pem, key: key.pem')]
  const given = (name: string, from: string) => (folder: string) => copyFileSync(from, join(folder, name))
  const both = (cert: string, key: string) => (folder: string) => {
    given('cert.pem', cert)(folder)
    given('key.pem', key)(folder)
  }
  const cases: Case[] = [
    {
      fault: 'missing',
      upstream: authority,
      message: `${AT}5:72: ca: "ca.pem" cannot be read: ENOENT (there is no such file: correct the path, or create the file)`,
    },
    {
      fault: 'unreadable',
      upstream: authority,
      prepare: (folder) => {
        given('ca.pem', ca)(folder)
        chmodSync(join(folder, 'ca.pem'), 0)
      },
      asNobody: true,
      message: `${AT}5:72: ca: "ca.pem" cannot be read: EACCES (this user lacks the right: give it the right to read the file and to enter its folders)`,
    },
    {
      fault: 'a key in place of a certificate',
      upstream: authority,
      prepare: given('ca.pem', clientKey),
      message: `${AT}5:72: ca: "ca.pem" has a private key in line 2: a file of authorities holds certificates alone`,
    },
    {
      fault: 'expired',
      upstream: pair,
      prepare: both(expired, expiredKey),
      message:
        /^gateway\.config\.yaml:5:74: cert: "cert\.pem" contains a certificate that has expired on 2021-01-01: renew it, or correct the clock of this machine, which shows \S+$/,
    },
    {
      fault: 'the authority has expired',
      upstream: authority,
      prepare: given('ca.pem', expired),
      message:
        /^gateway\.config\.yaml:5:72: ca: "ca\.pem" contains a certificate that has expired on 2021-01-01: /,
    },
    {
      fault: 'the key does not match',
      upstream: pair,
      prepare: both(client, serverKey),
      message: `${AT}5:61: tls: the certificates and the key cannot be parsed or do not match: name the key of this certificate, without a passphrase`,
    },
  ]
  for (const each of cases) await endsWith(t, each)
})

t.test('the limit of open files is too low', async (t) => {
  await logs(
    t,
    {
      fault: 'ulimit -n',
      more: 'limits:\n  connections: 5000\n',
      through: ['sh', '-c', 'ulimit -n 1024; exec "$@"', 'sh'],
      message:
        /^gateway\.config\.yaml:8:16: limits\.connections: connections of clients and upstreams may need \d+ open files per process, but the limit is 1024\. Raise the limit \("ulimit -n \d+", or LimitNOFILE=\d+ in the systemd unit\), or lower limits\.connections\.$/,
    },
    'msg',
  )
})

/** The program reads the clock by Date alone: a test can't set that of the machine. */
const CLOCK = `const Right = Date
globalThis.Date = class extends Right {
  constructor(...args) { args.length === 0 ? super(60_000) : super(...args) }
  static now() { return 60_000 }
}`

t.test('the clock is in 1970', async (t) => {
  await endsWith(t, {
    fault: 'the clock',
    prepare: (folder) => writeFileSync(join(folder, 'clock.mjs'), CLOCK),
    env: { NODE_OPTIONS: '--import=./clock.mjs' },
    ownProcess: true,
    message: `${AT}4:10: tenants: the clock of this machine shows 1970-01-01T00:01:00.000Z, before this program was made, so that no token or API key can be judged. Set the clock ("timedatectl set-ntp true"), then start again.`,
  })
})

t.test('the log cannot be written', async (t) => {
  if (process.platform !== 'linux') return void t.pass({ skip: 'only Linux has /dev/full' })
  const port = await reservePort(t)
  const gateway = await launch(t, {
    fault: 'the log',
    ops: `127.0.0.1:${port}`,
    through: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'],
    message: '',
  })
  await until(() => gateway.log.endsWith('\n'), 'a line of standard error')
  t.equal(
    gateway.log,
    'seatgate start: standard output, where the log goes, cannot be written (ENOSPC): lines are lost, and counted in seatgate_log_lines_dropped. Free some space on its disk, or redirect the output elsewhere.\n',
  )
  const { status } = await served(() => fetch(`http://127.0.0.1:${port}/readyz`))
  t.equal(status, 200, 'a full disk does not end the gateway')
  t.equal(await gateway.end(), 0)
})
