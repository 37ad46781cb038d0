/** What a command of npm starts is not taken for what npm starts. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folderWith } from './command-line.ts'

const LAUNCHER = join(import.meta.dirname, '../../src/cli/seatgate.js')

t.test('programs that a command starts do not inherit the script of npm', async (t) => {
  const cwd = folderWith(t, {})
  const git = join(cwd, 'git')
  const folder = folderWith(t, { git: `#!/bin/sh\necho "script=$npm_lifecycle_script" > '${git}'\nexit 1\n` })
  execFileSync('chmod', ['+x', join(folder, 'git')])
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env['PATH']}`,
    npm_lifecycle_script: 'seatgate diff git:main .',
  }
  t.throws(() =>
    execFileSync(process.execPath, [LAUNCHER, 'diff', 'git:main', '.'], { cwd, env, stdio: 'pipe' }),
  )
  t.equal(readFileSync(git, 'utf8'), 'script=\n')
})
