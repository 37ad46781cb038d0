/** A gateway that starts on a full disk decides; its writes get 503. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { CONFIG, folderWith, ROUTES, SECRET, seatgate } from '../cli/command-line.ts'

const script = fileURLToPath(new URL('./full-disk-process.ts', import.meta.url))

t.test('start on a full disk', async (t) => {
  const folder = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('./seatgate.db', './disk/seatgate.db'),
    'routes/trainings.yaml': ROUTES,
  })
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const made = await seatgate(folder, ['bootstrap', '--tenant', 'acme', '--json'])
  copyFileSync(join(disk, 'seatgate.db'), join(folder, 'made.db'))
  const mount = 'mount -t tmpfs -o size=2m none "$0" && cp "$1" "$0/seatgate.db" && shift && exec "$@"'
  const options = ['--map-root-user', '--mount', 'sh', '-c', mount, disk, join(folder, 'made.db')]
  const on = (...command: string[]) =>
    spawnSync('unshare', [...options, ...command], {
      encoding: 'utf8',
      env: { ...process.env, ACME_SECRET: SECRET },
    })
  if (on('true').status !== 0) {
    t.pass({ skip: 'this machine does not allow mounting a disk' })
    return
  }
  const { status, stdout, stderr } = on(process.execPath, script, folder, disk, JSON.parse(made.out).key)
  t.equal(status, 0, stderr)
  const decides = { first: 200, lastWrite: 503, last: 200, ready: 200 }
  const { ended, killed, reserve, ...rest } = JSON.parse(stdout)
  t.same(ended, decides, 'after a graceful end')
  t.equal(reserve, false, 'the reserve was deleted to make space for the index')
  t.same(killed, decides, 'after kill -9')
  t.same(rest, { 'without reserve': 'it ended' })
  t.match(stderr, /yaml:3:8: store: the disk of the store \S+ is full \(SQLITE_FULL\)\. Free some space/)
})
