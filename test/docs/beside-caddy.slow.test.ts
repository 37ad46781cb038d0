/** Caddy with the configuration of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { type FilesOf, startBeside, startBesideSignIn } from './beside.ts'
import { besideCases } from './beside-cases.ts'
import { signInCases } from './beside-sign-in.ts'

const files: FilesOf = (block) => ({
  program: 'caddy',
  files: () => ({
    Caddyfile: `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${block('caddyfile')}`,
  }),
  args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
})
const beside = await startBeside(t, files)
const signIn = await startBesideSignIn(t, files)

besideCases(beside, 'forward')
signInCases(signIn)
