/** HAProxy with the configuration and the script of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { type FilesOf, startBeside, startBesideSignIn } from './beside.ts'
import { besideCases } from './beside-cases.ts'
import { signInCases } from './beside-sign-in.ts'

const files: FilesOf = (block) => ({
  program: 'haproxy',
  files: (folder) => ({
    'seatgate.lua': block('lua'),
    'haproxy.cfg': block('haproxy').replace('/etc/haproxy', folder),
  }),
  args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
})
const beside = await startBeside(t, files)
const signIn = await startBesideSignIn(t, files)

besideCases(beside, 'forward')
signInCases(signIn)
