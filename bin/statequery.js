#!/usr/bin/env node
const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  require('./load.js')
    .load()
    .main(args)
    .then(exitCode => {
      process.exitCode = exitCode;
    });
}
