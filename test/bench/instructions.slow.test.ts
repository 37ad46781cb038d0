/** Instructions are counted, by the real emulator. Where it is not installed, the message says how to install it. */

import { execFileSync } from 'node:child_process'
import t from 'tap'
import { which } from '../../bench/cores.ts'
import { InstructionCounter } from '../../bench/instructions/counter.ts'
import { serverFolder } from '../support/servers/folder.ts'

const folder = serverFolder(t, 'instructions')
const isInstalled = which('qemu-x86_64') !== null && which('cc') !== null

/** The interpreter alone, on one thread: how much it runs before another has compiled the loop depends on the machine. */
const FLAGS = ['--jitless', '--single-threaded', '--random-seed=1', '--hash-seed=1']

t.test('a loop of twice the length takes its instructions more', { skip: !isInstalled }, async (t) => {
  const counter = new InstructionCounter(folder)
  const counts = [1e6, 2e6, 3e6].map((length) => {
    const loop = `let sum = 0; for (let i = 0; i < ${length}; i++) sum += i % 7; process.stdout.write(String(sum))`
    const [file = '', ...args] = [...counter.runner('loop'), process.execPath, ...FLAGS, '-e', loop]
    t.match(execFileSync(file, args).toString(), /^[0-9]+$/)
    return counter.count('loop')
  })
  const [one = 0, two = 0, three = 0] = counts
  const [first, second] = [two - one, three - two]
  t.ok(first > 1e7 && first < 1e9, `${first} instructions for a million more steps`)
  t.ok(second > 0.99 * first && second < 1.01 * first, `${second} for the next million`)
})

t.test('without the emulator', { skip: isInstalled && 'the emulator is installed' }, async (t) => {
  t.throws(() => new InstructionCounter(folder), { message: /apt-get install qemu-user gcc/ })
})
