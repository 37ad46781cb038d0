/** Who packs the same sources gets the same bytes: the folder, the time, the zone, the locale and the umask do not matter. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { packCopy } from './clone-copy.ts'

t.test('two folders, two times and two umasks give one package', async (t) => {
  const first = packCopy(t, { folder: 'a', umask: '022', mode: 'a+r', env: { TZ: 'UTC', LC_ALL: 'C' } })
  const other = { TZ: 'Asia/Kolkata', LC_ALL: 'C.UTF-8' }
  const second = packCopy(t, { folder: 'another/place', umask: '077', mode: 'go=', env: other })
  t.ok(readFileSync(first).equals(readFileSync(second)), 'byte for byte')

  const entries = execFileSync('tar', ['-tvzf', second], { encoding: 'utf8' }).trim().split('\n')
  const modes = Object.groupBy(entries, (entry) => entry.slice(0, 10))
  t.same(Object.keys(modes).sort(), ['-rw-r--r--', '-rwxr-xr-x'])
  t.match(modes['-rwxr-xr-x'], [/ package\/src\/cli\/seatgate\.js$/], 'the command alone')
  const text = execFileSync('tar', ['-xzOf', second], { maxBuffer: 2 ** 26 })
  for (const file of [first, second]) t.notOk(text.includes(dirname(file)), 'no path of the folder')
})
