import t from 'tap'
import { amount } from '../support/thorough.ts'
import { checkRandomFrames } from './fuzz.ts'

t.test('random frames', (t) => checkRandomFrames(t, amount({ usual: 400, thorough: 4000 })))
