/** What tools do. One meaning a line. */
export const ACTIONS = `
get fetch retrieve obtain lookup read acquire pull grab query access
search find lookup discover seek query locate explore
create add make generate new insert build produce construct compose form
register enroll signup subscribe join
delete remove erase drop destroy purge clear discard trash wipe uninstall
list show enumerate display view browse present
update edit modify change alter revise amend adjust patch set
rename retitle relabel
replace substitute swap exchange
copy duplicate clone replicate mirror
move relocate transfer migrate shift
send deliver dispatch transmit post submit forward
receive accept collect
upload import ingest load attach
download export save
save store keep persist record archive backup
restore recover undelete revert rollback undo
open launch start begin initiate run
close shut quit exit
start launch begin run initiate trigger activate boot spawn
stop end halt terminate kill abort cease
pause suspend hold freeze
resume continue unpause
cancel abort revoke withdraw call-off
enable activate switch-on turn-on allow
disable deactivate turn-off block
run execute perform invoke launch
check verify validate confirm test inspect examine ensure
analyze analysis examine evaluate assess study investigate insight
evaluate assess rate score grade judge appraise estimate
compare contrast comparison versus difference diff
calculate compute calculation calculator determine work-out
count tally number total
estimate predict forecast projection prediction project approximate
measure gauge quantify metric
convert transform translate turn change conversion transformation
translate translation translator language interpret
summarize summary abstract digest condense recap overview brief outline gist
explain describe clarify illustrate interpret explanation
extract parse scrape pull mine
scrape crawl spider harvest
merge combine join concatenate unite unify consolidate
split divide separate partition segment cut
sort order arrange rank
filter sift refine narrow
group cluster categorize classify bucket
classify categorize label tag classification category
detect identify recognize spot discover recognition detection
monitor watch track observe follow supervise
track trace follow monitoring tracking
schedule plan arrange book appointment
book reserve reservation booking
buy purchase order acquire shop
sell vend resell
pay payment settle remit
rent lease hire rental
hire recruit employ staff
recommend suggest advise recommendation suggestion propose advice
plan organize arrange prepare planning
design draw sketch draft
draw paint sketch plot illustrate
plot chart graph visualize diagram visualization draw render
render display draw visualize
write compose draft author pen
rewrite rephrase paraphrase reword polish
proofread spellcheck grammar spelling correct
read view see
speak talk say tell voice
listen hear
play stream listen watch
watch view stream see
compress zip shrink minify pack
extract unzip decompress unpack decompressed
encrypt encode cipher encryption encipher
decrypt decode decipher decryption
hash checksum digest fingerprint
sign signature autograph
share publish distribute broadcast
publish release post issue
deploy release rollout ship publish host
install setup
upgrade update bump
configure setup set configuration settings customize adjust
manage administer handle control organize
control operate steer manage command
connect link attach join pair
disconnect detach unlink unpair
invite ask bring
notify alert notification warn inform remind
remind reminder alarm
reply respond answer response
answer respond solve
ask question query inquire
comment remark note annotate
approve accept authorize confirm grant permit
reject decline deny refuse
assign allocate delegate
complete finish done close resolve conclude
solve resolve solution fix
fix repair correct debug mend
improve enhance optimize boost upgrade better
optimize improve tune optimization
simulate model emulate simulation
train teach learn fit
learn study education
practice exercise drill train
verify authenticate prove
login signin logon authenticate
logout signout logoff
click press tap push
type enter fill input
scroll swipe
navigate goto visit browse open
capture screenshot snapshot grab
record tape log capture
crop trim cut
resize scale rescale
rotate turn spin
flip mirror
blur smooth
increase raise grow boost
decrease reduce lower lessen cut
multiply product times
subtract minus difference deduct
sum add total plus addition
round truncate
randomize random shuffle arbitrary roll
guess predict
vote poll ballot elect
follow subscribe
block ban mute
report complain flag
format style layout beautify pretty
lint check style
compile build make
debug troubleshoot diagnose
diagnose diagnosis identify
inspect look examine view
index catalog catalogue
sync synchronize
lock secure
unlock open
mount attach
scan read detect
print output
commit save checkin
push upload
pull fetch
fork branch
donate give contribute donation
earn gain make
invest investment investing
borrow loan lend
trade exchange deal
ship deliver send shipping delivery shipment
return refund giveback
travel trip journey tour vacation holiday itinerary voyage
visit travel tour
drive steer ride
fly flight
cook bake prepare recipe
eat dine meal
drink beverage
sleep rest nap
run jog
walk hike stroll
wear dress clothe outfit
grow cultivate
breed raise
heat warm
cool chill
wash clean laundry
`;
