/** What tools do: words for one and the same deed, a line each. */
export const ACTIONS = `
get fetch retrieve obtain lookup read acquire pull grab query access download
search find lookup discover seek query locate explore hunt
create add make generate new insert build produce construct compose
create make design develop invent craft
register enroll signup subscribe join
delete remove erase drop destroy purge clear discard trash wipe eliminate
uninstall remove
list show enumerate display view browse see
show display present reveal visualize
update edit modify change alter revise amend adjust patch set
rename retitle relabel name
replace substitute swap exchange alternative instead
copy duplicate clone replicate mirror
fork copy clone
move relocate transfer migrate shift
send deliver dispatch transmit post submit forward
receive accept collect
upload import ingest load attach
download export save
attach append include add
save store keep persist record archive bookmark
backup archive snapshot dump
export dump extract save
restore recover undelete revert rollback undo
open launch start begin initiate run visit
close shut quit exit end
start launch begin run initiate trigger activate boot spawn
restart reboot reload relaunch
stop end halt terminate kill abort cease shutdown
pause suspend hold freeze
resume continue unpause
cancel abort revoke withdraw delete
enable activate on allow
disable deactivate off
run execute perform invoke call
check verify validate confirm test inspect examine
check get see
analyze examine evaluate assess study investigate inspect
analyze insight breakdown interpret
evaluate assess rate score grade judge appraise
compare contrast versus difference diff comparison
calculate compute determine calculator solve
count tally total number amount
estimate predict forecast projection approximate
measure gauge quantify
convert transform change turn conversion
translate interpret localization
summarize summary abstract digest condense recap overview brief outline gist synopsis tldr
explain describe clarify illustrate elaborate
extract parse scrape pull
scrape crawl spider harvest extract
merge combine join concatenate unite unify consolidate
split divide separate partition segment cut
sort order arrange rank
filter refine narrow limit rule
group cluster categorize classify organize
classify categorize label tag category
detect identify recognize spot recognition
monitor watch track observe supervise
track trace follow monitor
schedule plan arrange book
reschedule postpone move update
book reserve reservation order
buy purchase order acquire shop
sell vend list
pay settle remit payment
rent lease hire rental let
hire recruit employ
recommend suggest advise propose recommendation advice suggestion
plan organize arrange prepare
design draw sketch draft
plot chart graph visualize diagram draw render
write compose draft author
rewrite rephrase paraphrase reword reformulate polish humanize
proofread spellcheck grammar spelling correct
speak talk say pronounce
listen hear play
watch view stream see
play stream
compress zip shrink minify reduce
extract unzip decompress unpack
encrypt encode cipher
decrypt decode decipher
hash checksum digest fingerprint
share publish distribute broadcast
publish release post issue
deploy release rollout ship publish host launch
install setup add
upgrade update
configure setup set customize adjust settings
manage administer handle control organize
control operate steer command
connect link attach join pair
link associate relate connect
disconnect detach unlink unpair
invite ask
assign allocate delegate
notify alert inform warn
remind reminder remember alarm
remember memorize recall store memory
reply respond answer
answer respond solve
ask question query inquire
comment remark note annotate
approve accept authorize confirm grant permit
grant give allow permission
reject decline deny refuse
complete finish done close resolve
solve resolve fix
fix repair correct debug mend troubleshoot
improve enhance optimize boost better
simulate model emulate simulation
train teach fit
learn study
verify authenticate prove
login signin logon authenticate
logout signout logoff
click press tap push
type enter fill input write
select choose pick
navigate visit browse open
scroll swipe
capture screenshot snapshot photograph
record log capture tape
crop trim cut
resize scale rescale
scale multiply size
rotate turn spin
increase raise grow rise gain
decrease reduce lower lessen drop fall
subtract minus deduct difference
multiply times product
sum add total plus
randomize random shuffle arbitrary
vote poll ballot
follow subscribe
block ban mute
report flag
format style beautify layout
compile build make
diagnose troubleshoot debug
inspect examine view describe
index catalog
sync synchronize
lock secure
scan read check
commit save checkin
push upload
donate contribute give
invest trade
borrow lend
trade exchange deal buy sell
ship deliver send
return refund
travel visit tour
drive ride
cook bake prepare
eat dine
wear dress
roll throw toss
guess predict
celebrate party
practice exercise rehearse
meditate relax
`;
