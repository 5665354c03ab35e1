/**
 * Files that tools of a project load by themselves, as programs: which interpreter reads them, for which tool, under
 * which names. The first name of a row is also looked for beside the files that are given to the tool.
 */
type Row = readonly [
  interpreter: "node" | "python3" | "ruby" | "perl" | "lua" | "php" | "rscript",
  tools: string,
  files: string,
];

const SCRIPTS = "js mjs cjs ts mts";
const configs = (name: string): string =>
  SCRIPTS.split(" ")
    .map((end) => `${name}.config.${end}`)
    .join(" ");
const rcs = (name: string): string => ["js", "cjs", "mjs"].map((end) => `.${name}rc.${end}`).join(" ");

const SAME_NAME =
  "vite vitest jest webpack rollup eslint prettier playwright cypress next nuxt astro svelte postcss tailwind babel ava stylelint commitlint lint-staged tsup rspack rsbuild metro remix docusaurus snowpack hardhat drizzle prisma craco windi unocss quasar wmr nyc c8 karma parcel expo gatsby eleventy";

const ROWS: readonly Row[] = [
  ...SAME_NAME.split(" ").map((name): Row => ["node", name, `${configs(name)} ${rcs(name)}`]),
  ["node", "tailwindcss", configs("tailwind")],
  ["node", "webpack-dev-server webpack-cli", configs("webpack")],
  ["node", "drizzle-kit", configs("drizzle")],
  ["node", "mocha", ".mocharc.js .mocharc.cjs"],
  ["node", "karma", "karma.conf.js karma.conf.ts"],
  ["node", "wdio", "wdio.conf.js wdio.conf.ts"],
  ["node", "nightwatch protractor", "nightwatch.conf.js nightwatch.config.js protractor.conf.js"],
  ["node", "codeceptjs testcafe", "codecept.conf.js .testcaferc.js"],
  ["node", "gulp", "gulpfile.js gulpfile.mjs gulpfile.ts"],
  ["node", "grunt", "Gruntfile.js gruntfile.js"],
  ["node", "jake", "Jakefile Jakefile.js"],
  ["node", "vue-cli-service", "vue.config.js"],
  [
    "node",
    "react-native react-scripts",
    "react-native.config.js metro.config.js src/setupProxy.js config-overrides.js",
  ],
  ["node", "gatsby", "gatsby-config.js gatsby-node.js gatsby-config.ts gatsby-node.ts"],
  ["node", "expo eas", "app.config.js app.config.ts"],
  ["node", "pm2 pm2-runtime", "ecosystem.config.js ecosystem.config.cjs"],
  ["node", "knex", "knexfile.js knexfile.ts"],
  ["node", "sequelize sequelize-cli", ".sequelizerc"],
  ["node", "typeorm", "ormconfig.js ormconfig.ts data-source.ts"],
  ["node", "truffle", "truffle-config.js truffle.js"],
  ["node", "semantic-release", "release.config.js release.config.cjs .releaserc.js"],
  ["node", "release-it", ".release-it.js .release-it.cjs"],
  ["node", "electron-builder", "electron-builder.config.js"],
  ["node", "electron-forge", "forge.config.js forge.config.ts"],
  ["node", "storybook", ".storybook/main.js .storybook/main.ts"],
  ["node", "eleventy", ".eleventy.js"],
  [
    "node",
    "vitepress vuepress",
    ".vitepress/config.js .vitepress/config.ts .vuepress/config.js docs/.vitepress/config.js",
  ],
  ["node", "ember", "ember-cli-build.js testem.js"],
  ["node", "brunch", "brunch-config.js"],
  ["node", "plop", "plopfile.js plopfile.mjs"],
  ["node", "hygen", ".hygen.js"],
  ["node", "pulumi cdk sst", "index.ts index.js sst.config.ts"],
  ["python3", "pytest py.test", "conftest.py tests/conftest.py test/conftest.py"],
  ["python3", "nox", "noxfile.py"],
  ["python3", "fab", "fabfile.py"],
  ["python3", "invoke inv", "tasks.py"],
  ["python3", "doit", "dodo.py"],
  ["python3", "scons", "SConstruct Sconstruct sconstruct SConstruct.py"],
  ["python3", "waf", "wscript"],
  [
    "python3",
    "sphinx-build sphinx-autobuild sphinx-apidoc",
    "conf.py docs/conf.py docs/source/conf.py source/conf.py",
  ],
  ["python3", "conan", "conanfile.py"],
  ["python3", "snakemake", "Snakefile workflow/Snakefile"],
  ["python3", "locust", "locustfile.py"],
  ["python3", "behave", "features/environment.py environment.py"],
  ["python3", "gunicorn", "gunicorn.conf.py app.py wsgi.py"],
  [
    "python3",
    "jupyter jupyter-lab jupyter-notebook",
    "jupyter_notebook_config.py jupyter_server_config.py jupyter_lab_config.py",
  ],
  ["python3", "ipython", "ipython_config.py"],
  ["python3", "alembic", "env.py alembic/env.py migrations/env.py"],
  ["python3", "celery", "celeryconfig.py tasks.py"],
  ["python3", "flask uvicorn hypercorn daphne waitress-serve", "app.py wsgi.py main.py asgi.py"],
  ["python3", "pelican", "pelicanconf.py"],
  ["python3", "buildbot", "master.cfg"],
  ["python3", "scrapy", "settings.py"],
  ["python3", "django-admin", "settings.py"],
  ["python3", "pyinstaller", "hook.py"],
  ["python3", "pulumi", "__main__.py"],
  ["ruby", "gem", "*.gemspec"],
  ["ruby", "rake", "Rakefile rakefile Rakefile.rb rakefile.rb"],
  ["ruby", "bundle bundler", "Gemfile gems.rb"],
  ["ruby", "vagrant", "Vagrantfile"],
  ["ruby", "guard", "Guardfile"],
  ["ruby", "cap", "Capfile config/deploy.rb"],
  ["ruby", "fastlane", "Fastfile fastlane/Fastfile fastlane/Appfile"],
  ["ruby", "pod", "Podfile"],
  ["ruby", "berks", "Berksfile"],
  ["ruby", "brew", "Brewfile"],
  ["ruby", "danger", "Dangerfile"],
  ["ruby", "rackup puma unicorn thin passenger shotgun", "config.ru config/puma.rb config/unicorn.rb"],
  ["ruby", "thor", "Thorfile"],
  ["ruby", "rspec", "spec_helper.rb spec/spec_helper.rb spec/rails_helper.rb"],
  ["ruby", "cucumber", "env.rb features/support/env.rb"],
  ["ruby", "irb", ".irbrc"],
  ["ruby", "pry", ".pryrc"],
  ["ruby", "rails", "config/application.rb config/boot.rb config/environment.rb bin/rails"],
  ["ruby", "appraisal", "Appraisals"],
  ["ruby", "r10k librarian-puppet", "Puppetfile"],
  ["ruby", "middleman compass", "config.rb"],
  ["ruby", "nanoc", "Rules"],
  ["ruby", "whenever", "config/schedule.rb"],
  ["ruby", "chef-solo chef-client chef-apply cinc-client", "recipes/default.rb recipe.rb solo.rb client.rb"],
  ["perl", "latexmk", ".latexmkrc latexmkrc"],
  ["perl", "cpanm cpan", "Makefile.PL Build.PL"],
  ["perl", "exiftool", ".ExifTool_config"],
  ["lua", "premake5 premake4 premake", "premake5.lua premake4.lua"],
  ["lua", "xmake", "xmake.lua"],
  ["lua", "nvim", ".nvim.lua .exrc.lua init.lua"],
  ["lua", "busted", ".busted"],
  ["lua", "luacheck", ".luacheckrc"],
  ["lua", "love", "main.lua conf.lua"],
  ["php", "phpunit pest", "tests/bootstrap.php bootstrap.php tests/Pest.php"],
  ["php", "php-cs-fixer", ".php-cs-fixer.php .php-cs-fixer.dist.php .php_cs"],
  ["php", "rector", "rector.php"],
  ["php", "robo", "RoboFile.php"],
  ["php", "dep deployer", "deploy.php"],
  ["php", "phinx", "phinx.php"],
  ["php", "castor", "castor.php"],
  ["php", "artisan", "artisan"],
  ["rscript", "r rscript rstudio radian", ".Rprofile"],
];

export interface ProjectCode {
  readonly interpreter: string;
  readonly files: readonly string[];
}

/** For each tool the files it loads, by interpreter. */
export const PROJECT_CODE: ReadonlyMap<string, readonly ProjectCode[]> = collected();

function collected(): ReadonlyMap<string, readonly ProjectCode[]> {
  const byTool = new Map<string, ProjectCode[]>();
  for (const [interpreter, tools, files] of ROWS)
    for (const tool of tools.split(" ")) {
      const rows = byTool.get(tool) ?? [];
      rows.push({ interpreter, files: files.split(" ") });
      byTool.set(tool, rows);
    }
  return byTool;
}
