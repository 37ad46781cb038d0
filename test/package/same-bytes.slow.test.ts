/** Who packs the same sources gets the same bytes: the folder, the time, the zone, the locale and the umask do not matter. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { serverFolder } from '../support/servers/folder.ts'
import { copyClone } from './clone-copy.ts'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

interface Surroundings {
  readonly folder: string
  readonly umask: string
  readonly mode: string
  readonly env: Readonly<Record<string, string>>
}

/** @returns the path of the package */
function packIn(t: Test, { folder, umask, mode, env }: Surroundings): string {
  const clone = join(serverFolder(t, 'pack'), folder)
  mkdirSync(clone, { recursive: true })
  copyClone(clone)
  execFileSync('chmod', ['-R', mode, clone])
  symlinkSync(modules, join(clone, 'node_modules'))
  // npm fails with the options that the test runner gives Node.js.
  const own = { ...process.env, ...env, NODE_OPTIONS: '' }
  const script = `umask ${umask} && exec npm pack --silent`
  const options = { cwd: clone, env: own, encoding: 'utf8', stdio: 'pipe' } as const
  return join(clone, execFileSync('sh', ['-c', script], options).trim())
}

t.test('two folders, two times and two umasks give one package', async (t) => {
  const first = packIn(t, { folder: 'a', umask: '022', mode: 'a+r', env: { TZ: 'UTC', LC_ALL: 'C' } })
  const other = { TZ: 'Asia/Kolkata', LC_ALL: 'C.UTF-8' }
  const second = packIn(t, { folder: 'another/place', umask: '077', mode: 'go=', env: other })
  t.ok(readFileSync(first).equals(readFileSync(second)), 'byte for byte')

  const entries = execFileSync('tar', ['-tvzf', second], { encoding: 'utf8' }).trim().split('\n')
  const modes = Object.groupBy(entries, (entry) => entry.slice(0, 10))
  t.same(Object.keys(modes).sort(), ['-rw-r--r--', '-rwxr-xr-x'])
  t.match(modes['-rwxr-xr-x'], [/ package\/src\/cli\/seatgate\.js$/], 'the command alone')
  const text = execFileSync('tar', ['-xzOf', second], { maxBuffer: 2 ** 26 })
  for (const file of [first, second]) t.notOk(text.includes(dirname(file)), 'no path of the folder')
})
