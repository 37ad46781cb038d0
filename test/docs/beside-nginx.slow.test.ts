/** nginx with the configuration of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { type FilesOf, startBeside, startBesideSignIn } from './beside.ts'
import { besideCases } from './beside-cases.ts'
import { signInCases } from './beside-sign-in.ts'

const files: FilesOf = (block) => ({
  program: 'nginx',
  files: (folder) => ({
    'nginx.conf': `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${block('nginx')}
}`,
  }),
  args: (folder) => ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
})
const beside = await startBeside(t, files)
const signIn = await startBesideSignIn(t, files)

besideCases(beside, 'nginx')
signInCases(signIn)
