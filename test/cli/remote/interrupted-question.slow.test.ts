/** Ctrl-C and Ctrl-D at a question: nothing is done, and the command says so. */

import { spawn, spawnSync } from 'node:child_process'
import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { MAIN, outcomeOf } from '../command-line.ts'

/** util-linux, for a terminal. */
const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script of util-linux'

t.test('Ctrl-C and Ctrl-D at a question', { skip }, async (t) => {
  const world = await startWorld(t)
  const seat = await world.seat('Viewer', ['main'], ['trainings:list'])
  const command = `'${process.execPath}' '${MAIN}' seats delete Viewer`
  const env = {
    ...process.env,
    SEATGATE_URL: `http://127.0.0.1:${world.port}`,
    SEATGATE_API_KEY: world.keys['acme'],
  }
  for (const key of ['\u0003', '\u0004']) {
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env })
    child.stdout.on('data', (text) => String(text).includes('(yes/no)') && child.stdin.write(key))
    const { code, out } = await outcomeOf(child)
    t.equal(code, 1, out)
    t.match(out, /^seatgate seats delete: nothing was written\r$/m)
    t.notMatch(out, 'Abort')
  }
  t.match((await world.admin('GET', `/v1/seats/${seat}`)).status, 200)
})
